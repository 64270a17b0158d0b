#include "micro/transfer/async_copy.cu"

#include "example_gpu.hpp"
#include "harness/base/error.hpp"
#include "harness/model/word_patterns.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

namespace strata::async_copy {
namespace {

TEST(AsyncCopyTiles, StandApartAndLieWithinTheirFootprint) {
  constexpr std::uint64_t footprint = 15U << 20U;
  for (const std::uint32_t bytes : {16U, 256U, 1024U, 32768U, 65536U}) {
    const Tiles tiles = tiles_for(bytes, footprint);
    EXPECT_EQ(tiles.bytes, bytes);
    EXPECT_GE(tiles.pitch, std::max(bytes, 256U));
    EXPECT_EQ(tiles.pitch % 16, 0U);
    EXPECT_LE(tiles.size(), footprint);
    EXPECT_GT(tiles.size() + tiles.pitch, footprint);
  }
  EXPECT_EQ(tiles_for(65536, 1024).count, 1U);
}

TEST(AsyncCopyTiles, LieInAQuarterOfL2OrFarBeyondIt) {
  const GpuFacts gpu = example_gpu();
  const auto footprint = [&](Residency residency) {
    const Tiles tiles = tiles_of({.residency = residency, .bytes = 1024}, gpu);
    return std::uint64_t{tiles.pitch} * tiles.count;
  };
  EXPECT_LE(footprint(Residency::l2), gpu.l2_bytes / 4);
  EXPECT_GE(footprint(Residency::dram), 4 * gpu.l2_bytes);
}

TEST(AsyncCopyTiles, AreAllVisitedBeforeOneIsVisitedAgain) {
  constexpr Tiles tiles{.bytes = 16, .pitch = 256, .count = 48};
  std::set<std::uint32_t> seen;
  for (std::uint32_t round = 0; round < 4; ++round) {
    for (std::uint32_t block = 0; block < 12; ++block)
      seen.insert(tiles.tile(block, 12, round));
  }
  EXPECT_EQ(seen.size(), 48U);
  EXPECT_EQ(tiles.tile(0, 12, 4), 0U);
  // One step after the other, as the kernel goes, comes to the same.
  std::uint32_t tile = 5;
  for (std::uint32_t round = 0; round < 100; ++round) {
    EXPECT_EQ(tiles.tile(5, 7, round), tile);
    tile = (tile + 7) % tiles.count;
  }
}

TEST(AsyncCopyTiles, OfALargeArrayHaveWordsThatFit) {
  const Tiles tiles = tiles_for(16, std::uint64_t{1} << 30U);
  EXPECT_EQ(tiles.first_word(tiles.count - 1), (1U << 28U) - 64U);
}

TEST(AsyncCopyRows, OfATensorMapAreTheBytesOfTheTiles) {
  for (const std::uint32_t bytes : {16U, 256U, 1024U, 4096U, 65536U}) {
    const Tiles tiles = tiles_for(bytes, 1U << 22U);
    const Rows rows = map_rows(tiles);
    EXPECT_EQ(rows.bytes * rows.of_a_tile, bytes);
    EXPECT_EQ(rows.pitch * rows.of_a_tile, tiles.pitch);  // a tile's first row is where it begins
    EXPECT_LE(rows.bytes / sizeof(std::uint32_t), 256U);  // what a box may have
    EXPECT_LE(rows.of_a_tile, 256U);
    EXPECT_EQ(rows.pitch % 16, 0U);
    // Rows that are whole follow each other without a gap.
    EXPECT_TRUE(rows.of_a_tile == 1 || rows.pitch == rows.bytes);
  }
}

TEST(AsyncCopySums, AreThoseOfTheLastWords) {
  constexpr Tiles tiles{.bytes = 16, .pitch = 256, .count = 3};
  EXPECT_EQ(expected_sum(tiles, 4),
            2 * hashed_word(3) + hashed_word(64 + 3) + hashed_word(128 + 3));
  EXPECT_EQ(expected_sum_of_one(tiles, 1, 5), 5 * hashed_word(67));
}

TEST(AsyncCopyRounds, AreWholeFifthsThatFillAllStages) {
  for (const std::uint32_t bytes : {16U, 1024U, 65536U}) {
    EXPECT_EQ(latency_rounds(bytes) % 5, 0U);
    EXPECT_GE(latency_rounds(bytes), 40U);
  }
  for (const std::uint32_t bytes : {smallest_streamed, 4096U, largest_streamed}) {
    EXPECT_EQ(stream_rounds(bytes, 1U << 20U) % 5, 0U);
    EXPECT_GE(stream_rounds(bytes, 1U << 20U) / 5, stages);
    EXPECT_LE(stream_rounds(bytes, 248), 248U);
  }
}

TEST(AsyncCopyShared, KeepsOtherBlocksAwayWhereAllSmsAreAtWork) {
  const GpuFacts gpu = example_gpu();
  EXPECT_EQ(shared_bytes({.bytes = 1024}, gpu), 1024U);
  EXPECT_GT(2 * shared_bytes({.measure = Measure::bandwidth, .bytes = 1024}, gpu),
            gpu.shared_per_sm);
  EXPECT_EQ(shared_bytes({.method = CopyMethod::distributed,
                          .measure = Measure::bandwidth,
                          .bytes = 32768,
                          .cluster = 2},
                         gpu),
            5U * 32768U);
  EXPECT_THROW((void)shared_bytes({.measure = Measure::bandwidth, .bytes = 65536}, gpu), Skipped);
}

}  // namespace
}  // namespace strata::async_copy
