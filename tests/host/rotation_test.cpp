#include "micro/access/rotation.hpp"

#include "form_runs.hpp"
#include "micro/access/mended_forms.hpp"
#include "micro/access/rotation_best.hpp"
#include "micro/access/rotation_original.hpp"
#include "micro/access/rotation_seed_tool.hpp"

#include <gtest/gtest.h>

#include <set>

namespace strata::rotation {
namespace {

using image_work::Form;

constexpr Image wide{.width = 96, .height = 40};
constexpr Image square{.width = 128, .height = 128};

template <template <Way> class Kernel, Way way>
void expect_right() {
  for (const Image& image : {wide, square}) {
    for (const Angle& angle : angles) {
      const Turn turn = turn_by(way, image, angle.degrees);
      EXPECT_EQ(refused(check_of(way, angle.degrees), image, made_by<Kernel<way>>(image, turn)), 0U)
          << angle.degrees;
    }
  }
}

TEST(RotationForms, PutEveryPixelWhereItGoes) {
  expect_right<Original, Way::forward>();
  expect_right<SeedTool, Way::forward>();
  expect_right<Mended, Way::forward>();
  expect_right<Best, Way::forward>();
}

TEST(RotationForms, FetchEveryPixelFromWhereItWas) {
  expect_right<Original, Way::backward>();
  expect_right<SeedTool, Way::backward>();
  expect_right<Mended, Way::backward>();
  expect_right<Best, Way::backward>();
}

TEST(RotationCheck, OfForwardKnowsWhatNothingReaches) {
  const Turn turn = turn_by(Way::forward, wide, 30);
  auto to = made_by<Original<Way::forward>>(wide, turn);
  std::vector<std::set<std::uint8_t>> sources(wide.bytes());
  for (std::uint32_t y = 0; y < wide.height; ++y) {
    for (std::uint32_t x = 0; x < wide.width; ++x) {
      const Spot spot = turn.rotation.of(x, y);
      if (within(wide, spot)) sources[wide.at(spot.x, spot.y)].insert(pixel(wide.at(x, y)));
    }
  }
  // Some places have two sources and some have none, as the seed has it; any of two is right.
  std::size_t several = 0;
  std::size_t none = 0;
  std::size_t spoilt = 0;
  for (std::size_t at = 0; at < to.size(); ++at) {
    several += sources[at].size() > 1 ? 1 : 0;
    none += sources[at].empty() ? 1 : 0;
    if (!sources[at].empty()) to[at] = *sources[at].begin();
  }
  EXPECT_GT(several, 0U);
  EXPECT_GT(none, 0U);
  EXPECT_EQ(refused(check_of(Way::forward, 30), wide, to), 0U);
  for (std::size_t at = 0; at < to.size(); at += 7) {
    to[at] = static_cast<std::uint8_t>(to[at] + 1);
    const bool still = sources[at].contains(to[at]);
    spoilt += still ? 0 : 1;
  }
  EXPECT_EQ(refused(check_of(Way::forward, 30), wide, to), spoilt);
}

TEST(RotationCheck, OfBackwardRefusesOnePixel) {
  auto to = made_by<Original<Way::backward>>(wide, turn_by(Way::backward, wide, 45));
  to[wide.at(0, 0)] = 1;  // comes from outside
  to[wide.at(48, 20)] ^= 4U;
  EXPECT_EQ(refused(check_of(Way::backward, 45), wide, to), 2U);
}

TEST(RotationPrediction, OfNoRotationIsThatOfACopy) {
  const std::uint64_t pixels = square.bytes();
  for (const Way way : {Way::forward, Way::backward}) {
    const Turn turn = turn_by(way, square, 0);
    // Sixteen bytes of each of two rows; 64 of two; 8 of four.
    EXPECT_EQ(predicted(way, Form::original, turn),
              (LaunchTraffic{pixels / 32, 2 * pixels / 32, pixels / 32, 2 * pixels / 32}));
    const LaunchTraffic tool = predicted(way, Form::seed_tool, turn);
    EXPECT_EQ(way == Way::forward ? tool.load_requests : tool.store_requests, pixels / 128);
    EXPECT_EQ(way == Way::forward ? tool.load_sectors : tool.store_sectors, pixels / 32);
    EXPECT_EQ(way == Way::forward ? tool.store_requests : tool.load_requests, pixels / 32);
    EXPECT_EQ(way == Way::forward ? tool.store_sectors : tool.load_sectors, 4 * pixels / 32);
    EXPECT_EQ(predicted(way, Form::best, turn),
              (LaunchTraffic{pixels / 32, 4 * pixels / 32, pixels / 32, 4 * pixels / 32}));
  }
}

TEST(RotationPrediction, IsWhatAnH200Counted) {
  const auto by = [&](unsigned degrees) {
    return predicted(Way::forward, Form::original, turn_by(Way::forward, seed_image, degrees));
  };
  EXPECT_EQ(by(30).load_requests, 51744U);
  EXPECT_EQ(by(30).load_sectors, 103428U);
  EXPECT_EQ(by(30).store_sectors, 515730U);
  EXPECT_EQ(by(90).load_requests, 36720U);
  EXPECT_EQ(by(90).load_sectors, 73440U);
  EXPECT_EQ(by(90).store_sectors, 583200U);
}

TEST(RotationOnThisCpu, IsRightInEveryForm) {
  EXPECT_EQ(measured_on_this_cpu("rotation_forward"), 3U);
  EXPECT_EQ(measured_on_this_cpu("rotation_backward"), 3U);
}

}  // namespace
}  // namespace strata::rotation
