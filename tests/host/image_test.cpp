#include "micro/pattern/image.hpp"

#include "harness/model/lanes.hpp"
#include "micro/access/image_work.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <vector>

namespace strata {
namespace {

TEST(SquareImage, IsBeyondWhatIsAskedForAndNoLarger) {
  constexpr std::uint64_t mebi = 1U << 20U;
  for (const std::uint64_t bytes : {std::uint64_t{1}, 512 * std::uint64_t{512}, 240 * mebi}) {
    const Image image = square_beyond(bytes);
    EXPECT_GT(image.bytes(), bytes);
    EXPECT_EQ(image.width, image.height);
    EXPECT_EQ(image.width % 512, 0U);
    const std::uint64_t less = image.width - 512;
    EXPECT_LE(less * less, bytes);
  }
  EXPECT_THROW((void)square_beyond(1000 * mebi), std::invalid_argument);
}

TEST(LargeImage, IsBeyondFourCaches) {
  constexpr std::uint64_t cache = 3U << 20U;
  EXPECT_EQ(image_work::image_of({{"size", "large"}}, cache), square_beyond(4 * cache));
  EXPECT_EQ(image_work::image_of({{"size", "seed"}}, cache), seed_image);
}

TEST(ImagePixels, AreTheBytesOfHashedWords) {
  const Image image{.width = 64, .height = 3};
  const auto bytes = image_work::pixels_of(image);
  ASSERT_EQ(bytes.size(), 192U);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(bytes[i], pixel(i));
  std::uint32_t word = 0;
  std::memcpy(&word, &bytes[8], sizeof word);
  EXPECT_EQ(word, HashedWords{}.word(2));
}

TEST(Edge, IsThatOfSobel) {
  EXPECT_EQ(edge_of(7, 7, 7, 7, 7, 7, 7, 7), 0U);
  EXPECT_EQ(edge_of(0, 0, 1, 0, 1, 0, 0, 1), 4U);      // a step across
  EXPECT_EQ(edge_of(1, 1, 1, 0, 0, 0, 0, 0), 4U);      // a step down, of the other sign
  EXPECT_EQ(edge_of(0, 0, 0, 0, 0, 1, 2, 4), 3U + 9);  // gx = 4 - 1, gy = 1 + 4 + 4
  EXPECT_EQ(edge_of(0, 0, 255, 0, 255, 0, 0, 255), 255U);
  const Image image{.width = 32, .height = 3};
  std::vector<std::uint8_t> bytes(image.bytes(), 9);
  bytes[image.at(5, 0)] = 19;
  EXPECT_EQ(edge_at(bytes.data(), image, 4, 1), 20U);
  EXPECT_EQ(edge_at(bytes.data(), image, 5, 1), 20U);
  EXPECT_EQ(edge_at(bytes.data(), image, 5, 0), 0U);
  EXPECT_EQ(edge_at(bytes.data(), image, 0, 1), 0U);
  EXPECT_EQ(edge_at(bytes.data(), image, 31, 1), 0U);
}

TEST(Rotations, OfNothingAndOfAQuarterAreExact) {
  const Image image{.width = 64, .height = 64};
  for (std::uint32_t y = 0; y < image.height; ++y) {
    for (std::uint32_t x = 0; x < image.width; ++x) {
      EXPECT_EQ(rotation_by(image, 0, false).of(x, y), (Spot{x, y}));
      EXPECT_EQ(rotation_by(image, 90, false).of(x, y), (Spot{63 - y, x}));
      EXPECT_EQ(rotation_by(image, 90, true).of(x, y), (Spot{y, 63 - x}));
    }
  }
}

/// Each place is the nearest to the exact one, within the resolution of a fraction of 16 bits.
void expect_near(const Image& image, std::uint32_t degrees, bool back, std::uint32_t step) {
  const Rotation rotation = rotation_by(image, degrees, back);
  const double angle = (back ? -1.0 : 1.0) * degrees * std::numbers::pi / 180;
  const double middle_x = (image.width - 1) / 2.0;
  const double middle_y = (image.height - 1) / 2.0;
  const double bound = 0.5 + (image.width + image.height) / 65536.0;
  for (std::uint32_t y = 0; y < image.height; y += step) {
    for (std::uint32_t x = 0; x < image.width; x += step) {
      const double across = x - middle_x;
      const double down = y - middle_y;
      const double to_x = middle_x + std::cos(angle) * across - std::sin(angle) * down;
      const double to_y = middle_y + std::sin(angle) * across + std::cos(angle) * down;
      const Spot spot = rotation.of(x, y);
      ASSERT_NEAR(static_cast<std::int32_t>(spot.x), to_x, bound)
          << degrees << ' ' << x << ' ' << y;
      ASSERT_NEAR(static_cast<std::int32_t>(spot.y), to_y, bound)
          << degrees << ' ' << x << ' ' << y;
    }
  }
}

TEST(Rotations, GoToTheNearestPixelOfEveryImage) {
  for (const Angle& angle : angles) {
    for (const bool back : {false, true}) {
      expect_near({.width = 96, .height = 32}, angle.degrees, back, 1);
      expect_near(seed_image, angle.degrees, back, 13);
      expect_near(square_beyond(std::uint64_t{26'112} * 26'112), angle.degrees, back, 26'623);
    }
  }
  EXPECT_THROW((void)rotation_by(seed_image, 20, false), std::invalid_argument);
}

TEST(LaneTraces, CountAsTheCoalescingModelDoes) {
  std::mt19937 random{17};
  for (int round = 0; round < 300; ++round) {
    LaneTrace trace;
    WarpAccess access{.width = 4};
    const std::uint32_t range = 1U << random() % 14;
    std::uint32_t words[4];
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      if (random() % 4 == 0) continue;
      access.addresses[lane] = 4 * (random() % range);
      trace.load<4>(2, words, *access.addresses[lane]);
    }
    const Traffic expected = traffic(Generation::cc7, access);
    const LaunchTraffic seen = trace.take_warp();
    EXPECT_EQ(seen.load_sectors, expected.sectors);
    EXPECT_EQ(seen.load_requests, expected.requests);
    EXPECT_EQ(trace.take_warp(), LaunchTraffic{});
  }
}

TEST(LaneTraces, TellSlotsLoadsAndStoresApart) {
  // Blocks of 2 × 32 threads, a warp of which has 16 rows; the last row of all is not there.
  const Tiling tiling{.block_x = 2, .block_y = 32};
  const LaunchTraffic seen =
      traffic_of(tiling, 4, 31, [](LaneTrace& trace, std::uint32_t x, std::uint32_t y) {
        std::uint32_t word = 0;
        if (y >= 31) return;
        trace.load<4>(0, &word, 64 * (4 * y + x));
        if (x % 2 == 1) trace.load<1>(1, &word, x);
        trace.store<4>(0, 4 * x, &word);
      });
  EXPECT_EQ(seen, (LaunchTraffic{.load_requests = 8,
                                 .load_sectors = 4 * 31 + 4,
                                 .store_requests = 4,
                                 .store_sectors = 4}));
}

TEST(ImageSeries, MoveMuchInEitherSeries) {
  for (const Image& image : {seed_image, square_beyond(std::uint64_t{240} << 20U)}) {
    const auto series = image_work::series_of(image);
    EXPECT_GE(series.few * 2 * image.bytes(), std::uint64_t{1} << 28U);
    EXPECT_EQ(series.many, 3 * series.few);
  }
}

}  // namespace
}  // namespace strata
