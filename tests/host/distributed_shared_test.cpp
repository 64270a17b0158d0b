#include "micro/latency/distributed_shared.hpp"

#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <set>

namespace strata::distributed_shared {
namespace {

bool excluded(const char* measure, const char* cluster, const char* distance, const char* warps) {
  return declare()
      .excludes(
          {{"measure", measure}, {"cluster", cluster}, {"distance", distance}, {"warps", warps}},
          Backend::cuda)
      .has_value();
}

TEST(DistributedSharedDeclaration, LeavesOutBlocksThatAClusterHasNot) {
  EXPECT_FALSE(excluded("latency", "2", "0", "1"));
  EXPECT_FALSE(excluded("bandwidth", "16", "8", "32"));
  EXPECT_TRUE(excluded("bandwidth", "8", "8", "32"));
  EXPECT_TRUE(excluded("latency", "2", "1", "8"));
  const auto* const found = find_benchmark("distributed_shared");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->benchmark.excludes({}, Backend::host));
}

TEST(DistributedSharedRing, LeadsThroughEverySlotAndBack) {
  const Ring ring;
  std::set<std::uint32_t> seen;
  std::uint32_t at = ring.after(0);
  for (std::uint32_t load = 0; load < slots; ++load) {
    ASSERT_EQ(at, ring.after(load));
    seen.insert(at);
    at = ring.next.at(at);
  }
  EXPECT_EQ(at, ring.after(0));
  EXPECT_EQ(seen.size(), slots);
  EXPECT_EQ(long_loads / 5 % unroll, 0U);
  EXPECT_EQ(long_loads % unroll, 0U);
}

TEST(DistributedSharedTiles, AreReadAsFarAsTheWarpsOfABlockGo) {
  const Shape shape{.measure = Measure::bandwidth, .cluster = 4, .distance = 1, .warps = 8};
  const std::uint32_t of_round = 8 * chunk / 4;
  for (std::uint32_t rank = 0; rank < shape.cluster; ++rank) {
    const LinearWords words = tile_of((rank + 1) % 4);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 6 * of_round; ++i)  // four rounds are the tile
      sum += words.word(i % tile_words);
    EXPECT_EQ(expected_sum(shape, rank, 6), sum) << rank;
  }
  std::set<std::uint32_t> sums;
  for (std::uint32_t rank = 0; rank < 16; ++rank)
    sums.insert(expected_sum({.measure = Measure::bandwidth, .cluster = 16}, rank, 1));
  EXPECT_EQ(sums.size(), 16U);  // whose tile it was shows
  for (const std::uint32_t warps : {1U, 2U, 4U, 8U, 16U, 32U})
    EXPECT_EQ(tile_bytes % (warps * chunk), 0U);
}

TEST(DistributedSharedRows, AreCyclesOfALoad) {
  const Ring ring;
  const Experiment experiment = describe({}, ring, 2);
  const auto rows = rows_of(experiment, cuda_timers,
                            {.slopes = {{.inside = {.cycles = 200, .slowest = 200, .hertz = 2e9},
                                         .outside = 202,
                                         .seconds = 101e-9}},
                             .numbers = {}});
  EXPECT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows.at("load_cycles by clock64_slope").value, 200);
  EXPECT_EQ(rows.at("load_cycles by event_slope").value, 202);
  EXPECT_DOUBLE_EQ(rows.at("load_time by event_slope").value, 101e-9);
  Tally tally;
  Stamp stamp{.result = ring.after(long_loads)};
  const Slope& slope = experiment.slopes.front();
  slope.verify({.length = slope.lengths.full}, {&stamp, 1}, tally);
  EXPECT_EQ(tally.different, 0U);
  stamp.result += 1;
  slope.verify({.length = slope.lengths.full}, {&stamp, 1}, tally);
  EXPECT_EQ(tally.different, 1U);
}

TEST(DistributedSharedSums, TellTheTilesOfAClusterApartWhateverItsWarps) {
  const Ring ring;
  for (const std::uint32_t warps : {1U, 2U, 4U, 8U, 16U, 32U}) {
    for (const std::uint32_t distance : {0U, 1U, 4U}) {
      const Shape shape{
          .measure = Measure::bandwidth, .cluster = 8, .distance = distance, .warps = warps};
      const Lengths lengths = describe(shape, ring, 8).slopes.front().lengths;
      for (const Length& length : {lengths.brief, lengths.full}) {
        std::set<std::uint32_t> sums;
        for (std::uint32_t rank = 0; rank < shape.cluster; ++rank)
          sums.insert(expected_sum(shape, rank, length.rounds));
        EXPECT_EQ(sums.size(), shape.cluster) << warps << " warps, " << length.rounds << " rounds";
      }
    }
  }
}

TEST(DistributedSharedRows, AreBytesOfEverySmThatTakesPart) {
  const Ring ring;
  const Shape shape{.measure = Measure::bandwidth, .cluster = 2, .distance = 1, .warps = 32};
  const Experiment experiment = describe(shape, ring, 4);
  const Slope& slope = experiment.slopes.front();
  EXPECT_EQ(slope.lengths.full.work, 5 * slope.lengths.brief.work);
  EXPECT_EQ(slope.lengths.full.work, double{32} * chunk * slope.lengths.full.rounds);
  const auto rows =
      rows_of(experiment, cuda_timers,
              {.slopes = {{.inside = {.cycles = 0.0625, .slowest = 0.0625, .hertz = 2e9},
                           .outside = 0.0625,
                           .seconds = 0.0625 / 2e9}},
               .numbers = {}});
  EXPECT_DOUBLE_EQ(rows.at("bandwidth_per_sm by clock64_slope").value, 16);
  EXPECT_DOUBLE_EQ(rows.at("bandwidth by event_slope").value, 4 * 16 * 2e9);
  EXPECT_EQ(experiment.placement->cores, 4U);
  std::vector<Stamp> stamps(4);
  const Call call{.length = slope.lengths.brief};
  for (std::uint32_t block = 0; block < 4; ++block)
    stamps[block].result = expected_sum(shape, block % 2, call.length.rounds);
  Tally tally;
  slope.verify(call, stamps, tally);
  EXPECT_EQ(tally.different, 0U);
  std::swap(stamps[0].result, stamps[1].result);  // each read its own
  slope.verify(call, stamps, tally);
  EXPECT_EQ(tally.different, 2U);
}

}  // namespace
}  // namespace strata::distributed_shared
