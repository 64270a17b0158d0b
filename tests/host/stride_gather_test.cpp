#include "micro/access/stride_gather.hpp"

#include "harness/case/error.hpp"
#include "harness/model/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace strata {
namespace {

using namespace stride_gather;

constexpr std::uint64_t mebi = 1U << 20U;

Limits large() {
  return {.sms = 132, .blocks_per_sm = 16, .l2_bytes = 60 * mebi, .pool_bytes = 4096 * mebi};
}
/// One on which every element can be walked over in a test.
Limits small() {
  return {.sms = 4, .blocks_per_sm = 4, .l2_bytes = 2 * mebi, .pool_bytes = 64 * mebi};
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
      std::uint64_t asked = 0;
      std::set<std::uint64_t> different;
      std::set<std::uint64_t> pairs;
      for (std::uint32_t load = 0; load < loads; ++load) {
        const auto one = access(shape, load);
        asked += traffic(Generation::cc7, one).sectors;
        for (const auto& address : one.addresses) {
          different.insert(*address / sector_bytes);
          pairs.insert(*address / (2 * sector_bytes));
        }
      }
      const Sectors sectors = sectors_of(shape, loads, 2);
      ASSERT_EQ(sectors.asked, asked) << shape.width << ' ' << shape.stride << ' ' << loads;
      ASSERT_EQ(sectors.distinct, different.size()) << shape.width << ' ' << shape.locality;
      ASSERT_EQ(sectors_of(shape, loads).fetched, different.size());
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
          sum += (2 * (n % lanes) + 1) * word_at(index);
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
  for (const Limits& limits : {large(), small()}) {
    for (const Shape& shape : some_shapes()) {
      const auto plan = plan_for(shape, limits);
      EXPECT_LE(plan.span(plan.full), limits.pool_bytes + 1024U * shape.width);
      EXPECT_EQ(plan.loads_of_block % loads_of_round(shape.width), 0U);
      EXPECT_EQ(plan.loads(plan.full) % plan.distinct_loads(plan.full), 0U);
      EXPECT_LE(plan.distinct_loads(plan.full) * lanes, std::uint64_t{1} << 32U);
      EXPECT_GT(plan.loads(plan.full), plan.loads(plan.brief));
      EXPECT_GE(plan.laps(plan.brief), 1U);
    }
  }
}

TEST(StrideGatherPlan, KeepsWhatLiesInL2InAThirdOfIt) {
  for (const Shape& shape : some_shapes()) {
    if (shape.level != Level::l2) continue;
    const auto plan = plan_for(shape, large());
    std::set<std::uint64_t> lines;
    const std::uint64_t loads = std::min<std::uint64_t>(plan.distinct_loads(plan.full), 64);
    for (std::uint32_t load = 0; load < loads; ++load) {
      for (const auto& address : access(shape, load).addresses)
        lines.insert(*address / line_bytes);
    }
    const auto all = lines.size() * plan.distinct_loads(plan.full) / loads;
    EXPECT_LE(all * line_bytes, large().l2_bytes / 3 * 66 / 64) << shape.stride;
    EXPECT_GE(all * line_bytes, large().l2_bytes / 8) << shape.stride;
    EXPECT_EQ(plan.pass.blocks % large().sms, 0U);
    EXPECT_EQ(plan.laps(plan.pass), 1U);
    EXPECT_EQ(plan.distinct_loads(plan.full) % (shape.locality / lanes), 0U);
  }
}

TEST(StrideGatherPlan, TakesFromMemoryManyTimesL2AndEachElementOnce) {
  for (const Shape& shape : some_shapes()) {
    if (shape.level != Level::dram) continue;
    const auto plan = plan_for(shape, large());
    EXPECT_EQ(plan.laps(plan.full), 1U);
    EXPECT_EQ(plan.laps(plan.brief), 1U);
    EXPECT_GE(plan.span(plan.full), 4 * large().l2_bytes);
    EXPECT_EQ(plan.full.blocks, 4 * plan.brief.blocks);
  }
}

TEST(StrideGatherPlan, LeavesOutWhatDoesNotFit) {
  EXPECT_THROW((void)plan_for(gather(1U << 24U, 4, Level::l2), large()), Skipped);
  EXPECT_THROW((void)plan_for(gather(1U << 30U, 16), large()), Skipped);
  Limits poor = large();
  poor.pool_bytes = 64 * mebi;
  EXPECT_THROW((void)plan_for(strided(1), poor), Skipped);
  poor = large();
  poor.l2_bytes = 1024;
  EXPECT_THROW((void)plan_for(strided(1, 4, Level::l2), poor), Skipped);
}

TEST(StrideGatherPlan, GathersFromAllOfMemoryInPartsOfOneWindow) {
  const auto plan = plan_for(gather(1U << 28U), large());
  EXPECT_LT(plan.distinct_loads(plan.full) * lanes, 1U << 28U);
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
        sum += weight * word_at(first + w);
        there += weight * word_at(first + w + moved);
      }
    }
    EXPECT_EQ(there, sum + sum_of_move(shape, loads, moved));
  }
}

TEST(StrideGatherLevel, OfRepeatedSectorsWantsEachDifferentOneFromMemory) {
  constexpr Sectors sectors{.asked = 1'000'000, .distinct = 400'000};
  const double all = 32.0 * 400'000;
  const auto verdict = [&](const LoadCounts& net) {
    return data_level_gate(Level::dram, sectors, 1, net).verdict;
  };
  EXPECT_EQ(verdict(counts(1e6, 1e6, 4e5, all)), Verdict::passed);
  EXPECT_EQ(verdict(counts(1e6, 1e6, 9e5, 2 * all)), Verdict::passed);
  EXPECT_EQ(verdict(counts(1e6, 1e6, 4e5, 0.9 * all)), Verdict::failed);
  LoadCounts near = counts(1e6, 1e6, 4e5, all);
  near.l1_hit_sectors = 5e4;
  EXPECT_EQ(verdict(near), Verdict::failed);
  LoadCounts unknown = counts(1e6, 1e6, 4e5, all);
  unknown.dram_bytes.reset();
  EXPECT_EQ(verdict(unknown), Verdict::unverified);
  EXPECT_EQ(verdict(counts(0, 0, 0, 0)), Verdict::failed);
}

TEST(StrideGatherLevel, OfSectorsWithUnwantedNeighboursWantsBothFromMemory) {
  constexpr Sectors sectors{.asked = 1'000'000, .distinct = 1'000'000, .fetched = 2'000'000};
  const double all = 64.0 * 1'000'000;
  const auto verdict = [&](double missed, double memory) {
    return data_level_gate(Level::dram, sectors, 1, counts(1e6, 1e6, missed, memory)).verdict;
  };
  EXPECT_EQ(verdict(2e6, all), Verdict::passed);
  EXPECT_EQ(verdict(1e6, all / 2), Verdict::failed) << "half of them were in L2";
}

TEST(StrideGatherLevel, OfSectorsReadOnceLetsL2HaveNone) {
  constexpr Sectors sectors{.asked = 1'000'000, .distinct = 1'000'000};
  const double all = 32.0 * 1'000'000;
  EXPECT_EQ(data_level_gate(Level::dram, sectors, 1, counts(1e6, 1e6, 1e6, all)).verdict,
            Verdict::passed);
  EXPECT_EQ(data_level_gate(Level::dram, sectors, 1, counts(1e6, 1e6, 8e5, all)).verdict,
            Verdict::failed);
  EXPECT_EQ(data_level_gate(Level::l2, sectors, 10, counts(1e7, 1e7, 0, 0)).verdict,
            Verdict::passed);
  EXPECT_EQ(data_level_gate(Level::l2, sectors, 10, counts(1e7, 1e7, 1e6, 32e6)).verdict,
            Verdict::failed);
}

TEST(StrideGatherDeclaration, LeavesOutAxesThatSayNothing) {
  const Enrolled* enrolled = find_benchmark("stride_gather");
  ASSERT_NE(enrolled, nullptr);
  const auto& excludes = enrolled->benchmark.excludes;
  Params params{{"level", "dram"}, {"pattern", "strided"}, {"width", "4"},
                {"stride", "8"},   {"misalignment", "0"},  {"locality", "32"}};
  EXPECT_FALSE(excludes(params, Backend::cuda));
  params["pattern"] = "gather";
  EXPECT_TRUE(excludes(params, Backend::cuda));
  params["stride"] = "1";
  EXPECT_FALSE(excludes(params, Backend::cuda));
  params["misalignment"] = "1";
  EXPECT_TRUE(excludes(params, Backend::cuda));
  params["pattern"] = "misaligned";
  EXPECT_FALSE(excludes(params, Backend::cuda));
  params["misalignment"] = "0";
  EXPECT_TRUE(excludes(params, Backend::cuda));
}

}  // namespace
}  // namespace strata
