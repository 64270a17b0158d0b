#include "micro/transfer/async_copy.hpp"

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
  constexpr std::uint64_t mebi = 1U << 20U;
  const GpuFacts gpu{.l2_bytes = 60 * mebi, .memory_bytes = 8192 * mebi};
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

TEST(AsyncCopyDeclaration, LeavesOutWhatHasNoMeaning) {
  const Benchmark declared = declare();
  const auto excluded = [&](const char* method, const char* residency, const char* measure,
                            const char* bytes, const char* cluster) {
    return declared
        .excludes({{"method", method},
                   {"residency", residency},
                   {"measure", measure},
                   {"bytes", bytes},
                   {"cluster", cluster}},
                  Backend::cuda)
        .has_value();
  };
  EXPECT_FALSE(excluded("bulk", "l2", "latency", "16", "1"));
  EXPECT_FALSE(excluded("bulk", "dram", "bandwidth", "32768", "1"));
  EXPECT_FALSE(excluded("distributed", "shared", "latency", "65536", "8"));
  EXPECT_TRUE(excluded("bulk", "l2", "latency", "20", "1"));
  EXPECT_TRUE(excluded("bulk", "l2", "bandwidth", "16", "1"));
  EXPECT_TRUE(excluded("bulk", "l2", "bandwidth", "65536", "1"));
  EXPECT_FALSE(excluded("tensor", "l2", "latency", "48", "1"));
  EXPECT_FALSE(excluded("tensor", "dram", "bandwidth", "32768", "1"));
  EXPECT_TRUE(excluded("tensor", "l2", "latency", "1040", "1"));
  EXPECT_TRUE(excluded("bulk", "shared", "latency", "16", "1"));
  EXPECT_TRUE(excluded("bulk", "l2", "latency", "16", "2"));
  EXPECT_TRUE(excluded("distributed", "shared", "latency", "16", "1"));
  EXPECT_TRUE(excluded("distributed", "l2", "latency", "16", "2"));
}

constexpr Tiles some_tiles{.bytes = 1024, .pitch = 1024, .count = 100};
/// A tile takes 200 cycles by the clock inside and 202 by the one outside, at 2 GHz.
const Sample sample{.slopes = {{.inside = {.cycles = 200, .slowest = 200, .hertz = 2e9},
                                .outside = 202,
                                .seconds = 1.01e-7}}};

TEST(AsyncCopyRows, OfLatenciesAreCyclesOfATile) {
  const CopyCase one{.measure = Measure::latency, .bytes = 1024};
  const auto rows = rows_of(describe(one, some_tiles, 1), cuda_timers, sample);
  EXPECT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.at("tile_latency by clock64_slope").value, 200);
  EXPECT_EQ(rows.at("tile_latency by event_slope").value, 202);
  EXPECT_EQ(rows.at("tile_latency by event_slope").unit, "cycle");
  EXPECT_EQ(rows.at("core_clock by clock64_over_globaltimer").value, 2e9);
}

TEST(AsyncCopyRows, OfBandwidthsAreForTheChipAndPerSm) {
  const CopyCase one{.measure = Measure::bandwidth, .bytes = 1024};
  const Experiment experiment = describe(one, some_tiles, 132);
  const auto rows = rows_of(experiment, cuda_timers, sample);
  EXPECT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows.at("tile_cycles by clock64_slope").value, 200);
  EXPECT_EQ(rows.at("tile_cycles by event_slope").value, 202);
  EXPECT_DOUBLE_EQ(rows.at("bandwidth by event_slope").value, 132 * 1024 / 1.01e-7);
  EXPECT_EQ(rows.at("bandwidth by event_slope").unit, "B/s");
  EXPECT_DOUBLE_EQ(rows.at("bandwidth_per_sm by clock64_slope").value, 5.12);
  EXPECT_EQ(rows.at("bandwidth_per_sm by clock64_slope").unit, "B/cycle");
  EXPECT_EQ(experiment.placement->cores, 132U);
  EXPECT_EQ(experiment.placement->per_core, 1);
}

TEST(AsyncCopyGates, CompareBothTimers) {
  Sample off = sample;
  off.slopes[0].outside = 210;
  for (const Measure measure : {Measure::latency, Measure::bandwidth}) {
    const Experiment experiment = describe({.measure = measure, .bytes = 1024}, some_tiles, 1);
    EXPECT_EQ(verdict_of("timer", experiment, {sample}), Verdict::passed);
    EXPECT_EQ(verdict_of("timer", experiment, {off}), Verdict::failed);
    EXPECT_EQ(verdict_of("clock", experiment, {sample}), Verdict::passed);
    EXPECT_EQ(experiment.placement.has_value(), measure == Measure::bandwidth);
  }
}

TEST(AsyncCopyStart, IsWhereTheCaseSaysThatTheTilesAre) {
  const auto slope = [](Residency residency) {
    return describe({.residency = residency, .bytes = 1024}, some_tiles, 1).slopes.front();
  };
  EXPECT_EQ(slope(Residency::dram).start, Start::evicted);
  EXPECT_EQ(slope(Residency::l2).start, Start::in_l2);
  EXPECT_EQ(slope(Residency::l2).bytes, some_tiles.size());
  EXPECT_EQ(slope(Residency::shared).start, Start::as_left);
}

TEST(AsyncCopyResult, CountsWrongWordsAndAWrongSum) {
  const Slope slope = describe({.bytes = 1024}, some_tiles, 1).slopes.front();
  Stamp stamp{.result = 0, .tag = expected_sum(some_tiles, 10)};
  Tally tally;
  slope.verify({.length = {.rounds = 10}}, {&stamp, 1}, tally);
  EXPECT_EQ(tally.checked, 256U + 10U);
  EXPECT_EQ(tally.different, 0U);
  stamp.result = 3;
  ++stamp.tag;
  slope.verify({.length = {.rounds = 10}}, {&stamp, 1}, tally);
  EXPECT_EQ(tally.different, 3U + 10U);
  const CopyCase far{.method = CopyMethod::distributed,
                     .residency = Residency::shared,
                     .bytes = 1024,
                     .cluster = 2};
  Tally of_far;
  const Stamp right{.result = 0, .tag = expected_sum_of_one(some_tiles, 1, 10)};
  describe(far, some_tiles, 2)
      .slopes.front()
      .verify({.length = {.rounds = 10}}, {&right, 1}, of_far);
  EXPECT_EQ(of_far.different, 0U);
}

TEST(AsyncCopyShared, KeepsOtherBlocksAwayWhereAllSmsAreAtWork) {
  const GpuFacts gpu{.shared_per_sm = 233472, .shared_per_block = 232448};
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

TEST(AsyncCopyMethods, RequireChipsThatSupportThem) {
  EXPECT_EQ(needs(CopyMethod::registers), 75);
  EXPECT_EQ(needs(CopyMethod::cp_async_4), 80);
  EXPECT_EQ(needs(CopyMethod::bulk), 90);
  EXPECT_EQ(needs(CopyMethod::tensor), 90);
  EXPECT_EQ(needs(CopyMethod::distributed), 90);
  EXPECT_NO_THROW(require_capability(CopyMethod::bulk, 90, 90));
  EXPECT_THROW(require_capability(CopyMethod::bulk, 80, 90), Skipped);
  EXPECT_THROW(require_capability(CopyMethod::bulk, 90, 80), Skipped);
}

}  // namespace
}  // namespace strata::async_copy
