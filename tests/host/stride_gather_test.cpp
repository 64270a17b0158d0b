#include "micro/access/stride_gather.cu"

#include "example_gpu.hpp"
#include "harness/base/error.hpp"
#include "harness/model/lanes.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

namespace strata::stride_gather {
namespace {

constexpr std::uint64_t mebi = 1U << 20U;

GpuFacts large() {
  return example_gpu();
}
/// One on which every element can be walked over in a test.
GpuFacts small() {
  return {.sms = 4, .l2_bytes = 2 * mebi, .memory_bytes = 256 * mebi};
}
SweepPlan plan_for(const Shape& shape, const GpuFacts& gpu) {
  return stride_gather::plan_for(shape, gpu, gpu.sms == small().sms ? 4 : 16);
}

Shape strided(std::uint32_t stride, std::uint32_t width = 4, Level level = Level::dram) {
  return {.level = level, .pattern = Pattern::strided, .width = width, .stride = stride};
}
Shape misaligned(std::uint32_t elements, std::uint32_t width = 4, Level level = Level::dram) {
  return {.level = level, .pattern = Pattern::misaligned, .width = width, .misalignment = elements};
}
Shape gather(std::uint32_t locality, std::uint32_t width = 4, Level level = Level::dram) {
  return {.level = level, .pattern = Pattern::gather, .width = width, .locality = locality};
}

std::vector<Shape> some_shapes() {
  std::vector<Shape> all;
  for (const Level level : {Level::l2, Level::dram}) {
    for (const std::uint32_t width : {4U, 8U, 16U}) {
      for (const std::uint32_t stride : {1U, 3U, 8U, 32U, 64U})
        all.push_back(strided(stride, width, level));
      for (const std::uint32_t elements : {1U, 4U, 8U})
        all.push_back(misaligned(elements, width, level));
      for (const std::uint32_t locality : {32U, 256U, 2048U})
        all.push_back(gather(locality, width, level));
    }
  }
  return all;
}

WarpAccess access(const Shape& shape, std::uint32_t load) {
  std::array<std::uint64_t, warp_lanes> elements{};
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    elements[lane] = element_of(shape, load * lanes + lane);
  return access_of(shape.width, elements);
}

TEST(StrideGatherScatter, PermutesEachWindowAndAllOfThemAlike) {
  for (const std::uint32_t locality : {32U, 64U, 1024U, 32768U}) {
    const Shape shape = gather(locality);
    std::set<std::uint64_t> seen;
    for (std::uint32_t n = 0; n < locality; ++n) {
      const auto element = element_of(shape, n);
      EXPECT_LT(element, locality);
      seen.insert(element);
      ASSERT_EQ(element_of(shape, 5 * locality + n), 5 * locality + element);
    }
    EXPECT_EQ(seen.size(), locality);
  }
}

TEST(StrideGatherScatter, TakesLanesToAsManySectorsAsChanceWould) {
  for (const std::uint32_t locality : {256U, 4096U, 65536U, 1U << 22U}) {
    const double sectors = locality / 8.0;
    // Of 32 different elements out of all: each sector stays out by as many chances.
    double out = 1;
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      out *= (locality - 8.0 - lane) / (locality - double{1} * lane);
    const double expected = sectors * (1 - out);
    EXPECT_NEAR(sectors_per_load(gather(locality)) / expected, 1, 0.06) << locality;
  }
  EXPECT_EQ(sectors_per_load(gather(32)), 4);
  EXPECT_EQ(sectors_per_load(gather(32, 16)), 16);
}

TEST(StrideGatherScatter, HasTheBitsOfItsWindow) {
  EXPECT_EQ(scatter_of(32).mask, 31U);
  EXPECT_EQ(scatter_of(32).shift, 3U);
  EXPECT_EQ(scatter_of(1U << 30U).mask, (1U << 30U) - 1);
  EXPECT_EQ(scatter_of(1U << 30U).shift, 15U);
}

TEST(StrideGatherSectors, AreThoseOfTheModelLoadByLoad) {
  for (const Shape& shape : some_shapes()) {
    for (const std::uint32_t loads : {1U, 7U, 64U, 100U}) {
      std::uint64_t requested = 0;
      std::set<std::uint64_t> different;
      std::set<std::uint64_t> pairs;
      for (std::uint32_t load = 0; load < loads; ++load) {
        const auto one = access(shape, load);
        requested += traffic(Generation::cc7, one).sectors;
        for (const auto& address : one.addresses) {
          different.insert(*address / sector_bytes);
          pairs.insert(*address / (2 * sector_bytes));
        }
      }
      const Sectors sectors = sectors_of(shape, loads, 2);
      ASSERT_EQ(sectors.requested, requested) << shape.width << ' ' << shape.stride << ' ' << loads;
      ASSERT_EQ(sectors.distinct, different.size()) << shape.width << ' ' << shape.locality;
      ASSERT_EQ(sectors_of(shape, loads, 1).fetched, different.size());
      if (shape.pattern != Pattern::gather) {
        ASSERT_EQ(sectors.fetched, 2 * pairs.size());
      }
    }
  }
}

TEST(StrideGatherSectors, AreTheKnownOnesOfPlainPatterns) {
  EXPECT_EQ(sectors_per_load(strided(1)), 4);
  EXPECT_EQ(sectors_per_load(strided(2)), 8);
  EXPECT_EQ(sectors_per_load(strided(8)), 32);
  EXPECT_EQ(sectors_per_load(strided(64, 16)), 32);
  EXPECT_EQ(sectors_per_load(misaligned(1)), 5);
  EXPECT_EQ(sectors_per_load(misaligned(8)), 4);
}

TEST(StrideGatherSums, AreThoseOfAPlainLoop) {
  for (const Shape& shape : some_shapes()) {
    for (const std::uint32_t loads : {1U, 8U, 200U}) {
      std::uint32_t sum = 0;
      for (std::uint32_t n = 0; n < loads * lanes; ++n) {
        for (std::uint32_t w = 0; w < shape.width / 4; ++w) {
          const auto index = element_of(shape, n) * (shape.width / 4) + w;
          sum += (2 * (n % lanes) + 1) * array_words.word(index);
        }
      }
      ASSERT_EQ(sum_of_loads(shape, loads), sum) << shape.width << ' ' << shape.locality;
    }
  }
}

TEST(StrideGatherSums, TellAGatherFromAStream) {
  EXPECT_NE(sum_of_loads(gather(32), 64), sum_of_loads(strided(1), 64));
}

TEST(StrideGatherPlan, StaysInsideItsArrayAndMakesWholeRounds) {
  for (const GpuFacts& gpu : {large(), small()}) {
    for (const Shape& shape : some_shapes()) {
      const auto plan = plan_for(shape, gpu);
      EXPECT_LE(plan.span(plan.lengths.full), pool_bytes(gpu) + 1024U * shape.width);
      EXPECT_EQ(plan.loads_of_block % loads_of_round(shape.width), 0U);
      EXPECT_EQ(plan.loads(plan.lengths.full) % plan.distinct_loads(plan.lengths.full), 0U);
      EXPECT_LE(plan.distinct_loads(plan.lengths.full) * lanes, std::uint64_t{1} << 32U);
      EXPECT_GT(plan.loads(plan.lengths.full), plan.loads(plan.lengths.brief));
      EXPECT_GE(plan.laps(plan.lengths.brief), 1U);
    }
  }
}

/// Calls visit(load, piece, warp, flight, round) for each load of a launch.
template <class Visit>
void walk_over(const SweepPlan& plan, const Length& length, Visit&& visit) {
  const AddressPattern& pattern = plan.pattern;
  for (std::uint32_t piece = 0; piece < length.blocks; ++piece) {
    for (std::uint32_t warp = 0; warp < threads / lanes; ++warp) {
      std::uint32_t offset = 0;
      for (std::uint32_t round = 0; round < length.rounds; ++round) {
        for (std::uint32_t flight = 0; flight < flights_of(plan.shape.width); ++flight) {
          const std::uint32_t n =
              pattern.first(piece, warp) + offset + flight * pattern.flight_step;
          ASSERT_EQ(n % lanes, 0U);
          visit(n / lanes, piece, warp, flight, round);
        }
        offset = (offset + pattern.round_step) % pattern.lap;
      }
    }
  }
}

TEST(StrideGatherPattern, MakesEachLoadOfALaunchOnceALap) {
  for (const GpuFacts& gpu : {large(), small()}) {
    for (const Shape& shape : some_shapes()) {
      const auto plan = plan_for(shape, gpu);
      const Length& length = shape.level == Level::l2 ? plan.pass : plan.lengths.brief;
      std::vector<int> times(plan.distinct_loads(length));
      walk_over(plan, length, [&](std::uint32_t load, auto...) { ++times.at(load); });
      ASSERT_EQ(std::ranges::count(times, 1), std::ssize(times))
          << shape.width << ' ' << shape.locality;
    }
  }
}

TEST(StrideGatherPattern, HasNoTwoLoadsOfAWindowInFlightWhereARunHoldsWindows) {
  for (const Shape& shape : {gather(128, 4, Level::l2), gather(512, 4, Level::l2),
                             gather(128, 16, Level::l2), gather(128, 4)}) {
    const auto plan = plan_for(shape, large());
    ASSERT_EQ(plan.pattern.lap % shape.locality, 0U);
    std::map<std::uint32_t, std::set<std::array<std::uint32_t, 3>>> readers;
    const Length& length = shape.level == Level::l2 ? plan.pass : plan.lengths.brief;
    walk_over(plan, length,
              [&](std::uint32_t load, std::uint32_t piece, std::uint32_t warp, std::uint32_t flight,
                  std::uint32_t) {
                readers[load / shape.window_loads()].insert({piece, warp, flight});
              });
    for (const auto& [window, of] : readers)
      ASSERT_EQ(of.size(), 1U) << window;
  }
}

TEST(StrideGatherPattern, DealsTheLoadsOfALargeWindowOutToBlocksFarApart) {
  const Shape shape = gather(4096, 4, Level::l2);
  const auto plan = plan_for(shape, large());
  std::map<std::uint32_t, std::set<std::uint32_t>> readers;
  walk_over(plan, plan.pass, [&](std::uint32_t load, std::uint32_t piece, auto...) {
    readers[load / shape.window_loads()].insert(piece);
  });
  for (const auto& [window, blocks] : readers) {
    std::uint32_t least = plan.pass.blocks;
    for (auto block = blocks.begin(); std::next(block) != blocks.end(); ++block)
      least = std::min(least, *std::next(block) - *block);
    ASSERT_GT(least, 8U) << window;
  }
}

TEST(StrideGatherPattern, IsSequentialWhereSectorsAreNotShared) {
  const auto plan = plan_for(strided(1), large());
  std::uint32_t next = 0;
  walk_over(plan, {.rounds = 1, .blocks = 1},
            [&](std::uint32_t load, auto...) { EXPECT_EQ(load, next++); });
  EXPECT_EQ(plan.pattern.first(3, 0), 3 * plan.loads_of_block * lanes);
}

TEST(StrideGatherPlan, KeepsWhatLiesInL2InAThirdOfIt) {
  for (const Shape& shape : some_shapes()) {
    if (shape.level != Level::l2) continue;
    const auto plan = plan_for(shape, large());
    std::set<std::uint64_t> lines;
    const std::uint64_t loads = std::min<std::uint64_t>(plan.distinct_loads(plan.lengths.full), 64);
    for (std::uint32_t load = 0; load < loads; ++load) {
      for (const auto& address : access(shape, load).addresses)
        lines.insert(*address / line_bytes);
    }
    const auto all = lines.size() * plan.distinct_loads(plan.lengths.full) / loads;
    EXPECT_LE(all * line_bytes, large().l2_bytes / 3 * 66 / 64) << shape.stride;
    EXPECT_GE(all * line_bytes, large().l2_bytes / 8) << shape.stride;
    EXPECT_EQ(plan.pass.blocks % large().sms, 0U);
    EXPECT_EQ(plan.laps(plan.pass), 1U);
    EXPECT_EQ(plan.distinct_loads(plan.lengths.full) % (shape.locality / lanes), 0U);
  }
}

TEST(StrideGatherPlan, TakesFromMemoryManyTimesL2AndEachElementOnce) {
  for (const Shape& shape : some_shapes()) {
    if (shape.level != Level::dram) continue;
    const auto plan = plan_for(shape, large());
    EXPECT_EQ(plan.laps(plan.lengths.full), 1U);
    EXPECT_EQ(plan.laps(plan.lengths.brief), 1U);
    EXPECT_GE(plan.span(plan.lengths.full), 4 * large().l2_bytes);
    EXPECT_EQ(plan.lengths.full.blocks, 4 * plan.lengths.brief.blocks);
  }
}

TEST(StrideGatherPlan, LeavesOutWhatDoesNotFit) {
  EXPECT_THROW((void)plan_for(gather(1U << 24U, 4, Level::l2), large()), Skipped);
  EXPECT_THROW((void)plan_for(gather(1U << 30U, 16), large()), Skipped);
  GpuFacts poor = large();
  poor.memory_bytes = 256 * mebi;
  EXPECT_THROW((void)plan_for(strided(1), poor), Skipped);
  poor = large();
  poor.l2_bytes = 1024;
  EXPECT_THROW((void)plan_for(strided(1, 4, Level::l2), poor), Skipped);
}

TEST(StrideGatherPlan, GathersFromAllOfMemoryInPartsOfOneWindow) {
  const auto plan = plan_for(gather(1U << 28U), large());
  EXPECT_LT(plan.distinct_loads(plan.lengths.full) * lanes, 1U << 28U);
}

LoadCounts counts(double sectors, double l2, double missed, double memory) {
  return {.requests = 100,
          .sectors = sectors,
          .l1_hit_sectors = 0,
          .l2_sectors = l2,
          .l2_miss_sectors = missed,
          .dram_bytes = memory};
}

TEST(StrideGatherSums, MoveWithTheData) {
  for (const Shape& shape : some_shapes()) {
    constexpr std::uint32_t loads = 40;
    constexpr std::uint64_t moved = 12'345;
    std::uint32_t sum = 0;
    std::uint32_t there = 0;
    for (std::uint32_t n = 0; n < loads * lanes; ++n) {
      const std::uint32_t weight = 2 * (n % lanes) + 1;
      const std::uint64_t first = element_of(shape, n) * shape.width / 4;
      for (std::uint64_t w = 0; w < shape.width / 4; ++w) {
        sum += weight * array_words.word(first + w);
        there += weight * array_words.word(first + w + moved);
      }
    }
    EXPECT_EQ(there, sum + sum_of_move(shape, loads, moved));
  }
}

/// The gate of data in memory, or in L2, of loads that request `laps` times the sectors.
Verdict level_of(Level level, const Sectors& sectors, std::uint64_t laps, const LoadCounts& net) {
  const bool in_l2 = level == Level::l2;
  const LoadPrediction predicted{.requests = 0,
                                 .sectors = laps * sectors.requested,
                                 .fetched_sectors = in_l2 ? 0 : laps * sectors.fetched,
                                 .distinct_sectors = in_l2 ? 0 : laps * sectors.distinct};
  return level_gate(in_l2 ? ServedBy::l2 : ServedBy::dram, predicted, net).verdict;
}

TEST(StrideGatherLevel, OfRepeatedSectorsWantsEachDifferentOneFromMemory) {
  constexpr Sectors sectors{.requested = 1'000'000, .distinct = 400'000};
  const double all = 32.0 * 400'000;
  const auto verdict = [&](const LoadCounts& net) {
    return level_of(Level::dram, sectors, 1, net);
  };
  EXPECT_EQ(verdict(counts(1e6, 1e6, 4e5, all)), Verdict::passed);
  EXPECT_EQ(verdict(counts(1e6, 1e6, 9e5, 2 * all)), Verdict::passed);
  EXPECT_EQ(verdict(counts(1e6, 1e6, 4e5, 0.9 * all)), Verdict::failed);
  EXPECT_EQ(verdict(counts(1e6, 1e6, 4e5, 1.1 * all)), Verdict::failed) << "L2 missed fewer";
  LoadCounts near = counts(1e6, 1e6, 4e5, all);
  near.l1_hit_sectors = 5e4;
  EXPECT_EQ(verdict(near), Verdict::failed);
  LoadCounts unknown = counts(1e6, 1e6, 4e5, all);
  unknown.dram_bytes.reset();
  EXPECT_EQ(verdict(unknown), Verdict::unverified);
  EXPECT_EQ(verdict(counts(0, 0, 0, 0)), Verdict::failed);
}

TEST(StrideGatherLevel, OfSectorsWithUnwantedNeighboursWantsBothFromMemory) {
  constexpr Sectors sectors{.requested = 1'000'000, .distinct = 1'000'000, .fetched = 2'000'000};
  const double all = 64.0 * 1'000'000;
  const auto verdict = [&](double missed, double memory) {
    return level_of(Level::dram, sectors, 1, counts(1e6, 1e6, missed, memory));
  };
  EXPECT_EQ(verdict(2e6, all), Verdict::passed);
  EXPECT_EQ(verdict(1e6, all / 2), Verdict::failed) << "half of them were in L2";
}

TEST(StrideGatherLevel, OfSectorsReadOnceLetsL2HaveNone) {
  constexpr Sectors sectors{.requested = 1'000'000, .distinct = 1'000'000};
  const double all = 32.0 * 1'000'000;
  EXPECT_EQ(level_of(Level::dram, sectors, 1, counts(1e6, 1e6, 1e6, all)), Verdict::passed);
  EXPECT_EQ(level_of(Level::dram, sectors, 1, counts(1e6, 1e6, 8e5, all)), Verdict::failed);
  EXPECT_EQ(level_of(Level::l2, sectors, 10, counts(1e7, 1e7, 0, 0)), Verdict::passed);
  EXPECT_EQ(level_of(Level::l2, sectors, 10, counts(1e7, 1e7, 1e6, 32e6)), Verdict::failed);
}

}  // namespace
}  // namespace strata::stride_gather
