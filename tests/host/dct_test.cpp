#include "micro/access/dct.cu"

#include "case_here.hpp"
#include "harness/model/word_patterns.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

namespace strata::dct {
namespace {

double plain_sum(const std::vector<std::uint8_t>& bytes, std::uint32_t u, std::uint32_t v) {
  double sum = 0;
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      sum += bytes[y * side + x] * std::cos(std::numbers::pi * (2 * x + 1) * u / 512) *
             std::cos(std::numbers::pi * (2 * y + 1) * v / 512);
    }
  }
  return sum;
}

class DctReference : public testing::Test {
 protected:
  static void SetUpTestSuite() { made() = reference(image(0), cosine_error(Form::separable)); }
  static Reference& made() {
    static Reference all;
    return all;
  }
};

TEST_F(DctReference, IsThePlainSum) {
  const auto bytes = image(0);
  for (const auto& [u, v] : {std::pair{0U, 0U}, {1U, 0U}, {0U, 1U}, {7U, 200U}, {255U, 255U}}) {
    EXPECT_NEAR(made().coefficients[v * side + u], plain_sum(bytes, u, v), 1e-6);
  }
  EXPECT_EQ(made().coefficients[0], std::accumulate(bytes.begin(), bytes.end(), 0.0));
}

TEST_F(DctReference, HasBoundsFarBelowWhatItBounds) {
  double squares = 0;
  for (std::size_t i = 1; i < pixels; ++i)
    squares += made().coefficients[i] * made().coefficients[i];
  const double usual = std::sqrt(squares / (pixels - 1));
  EXPECT_LT(*std::ranges::max_element(made().bounds), usual / 10);
  EXPECT_EQ(made().bounds[0], 0);
  EXPECT_GT(*std::min_element(made().bounds.begin() + 1, made().bounds.end()), 0);
}

TEST_F(DctReference, RefusesWhatIsBeyondABound) {
  std::vector<float> seen(made().coefficients.begin(), made().coefficients.end());
  const std::vector<std::uint32_t> at{0, 1, 300, pixels - 1};
  Tally right;
  check(made(), seen, at, right);
  EXPECT_EQ(right.checked, 4U);
  EXPECT_EQ(right.different, 0U);
  seen[0] += 1;  // exact
  seen[1] = std::nanf("");
  seen[300] += static_cast<float>(2 * made().bounds[300]);
  seen[2] = 0;  // not asked for
  Tally wrong;
  check(made(), seen, at, wrong);
  EXPECT_EQ(wrong.different, 3U);
}

TEST(DctCosines, BeginFromMinusPiAndStayTheSame) {
  for (std::uint32_t k = 0; k < 3 * period; ++k) {
    const std::int32_t near = from_minus_pi(k);
    EXPECT_GE(near, -512);
    EXPECT_LT(near, 512);
    EXPECT_EQ((static_cast<std::int32_t>(k) - near) % 1024, 0);
  }
  const auto table = cosines();
  EXPECT_EQ(table[0], 1.0F);
  EXPECT_EQ(table[3 * side + 5], static_cast<float>(std::cos(std::numbers::pi * 35 / 512)));
}

TEST(DctImages, FollowEachOtherAsHashedWords) {
  EXPECT_EQ(image(0)[5], hashed_element(5, 1));
  EXPECT_EQ(image(3)[5], hashed_element(3 * pixels + 5, 1));
  EXPECT_EQ(images_of({{"size", "seed"}}, 1U << 20U), 1U);
  EXPECT_EQ(images_of({{"size", "large"}}, 1U << 20U), 65U);
}

TEST(DctPrediction, FollowsFromTheAddresses) {
  constexpr std::uint64_t warps = 2048;
  EXPECT_EQ(predicted(Form::original, 1).load_requests, warps * pixels);
  EXPECT_EQ(predicted(Form::original, 1).load_sectors, warps * pixels);
  EXPECT_EQ(predicted(Form::seed_tool, 1).load_requests, warps * pixels / 4);
  EXPECT_EQ(predicted(Form::seed_hand, 1).load_requests, warps * pixels / 16);
  EXPECT_EQ(predicted(Form::original, 1).store_sectors, pixels / 8);
  EXPECT_EQ(predicted(Form::best, 1).load_sectors, 128 * pixels / 32);
  EXPECT_EQ(predicted(Form::best, 1).load_requests, 128 * pixels / 512);
  const LaunchTraffic one = predicted(Form::separable, 1);
  EXPECT_EQ(one.load_requests, 8192U);
  EXPECT_EQ(one.load_sectors, 114'688U);
  EXPECT_EQ(one.store_sectors, 2 * pixels / 8);
  EXPECT_EQ(predicted(Form::separable, 3).load_requests, 3 * one.load_requests);
  EXPECT_EQ(predicted(Form::separable, 3).load_sectors, 3 * one.load_sectors);
}

TEST(DctOnThisCpu, IsRightInEveryForm) {
  for (const char* const form : {"naive", "table", "all_cores", "vectors", "separable"})
    EXPECT_EQ(measure_here("dct", {{"size", "seed"}, {"form", form}}, 1).status, Status::measured);
}

}  // namespace
}  // namespace strata::dct
