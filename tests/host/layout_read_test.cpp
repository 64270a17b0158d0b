#include "micro/access/layout_read.cu"

#include "case_here.hpp"
#include "example_gpu.hpp"
#include "harness/base/error.hpp"
#include "harness/case/sweep.hpp"
#include "harness/model/lanes.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace strata {
namespace {

using layout_read::describe;
using layout_read::Level;
using layout_read::nearest;
using layout_read::Point;
using layout_read::reads_for;
using layout_read::rings_of;
using layout_read::Shape;
using layout_read::shape_for;
using layout_read::shape_on_gpu;
using layout_read::spare_groups;
using layout_read::start_positions;
using layout_read::Walks;
using layout_read::walks_of;

Params params(const std::string& layout, const std::string& residency, const std::string& fields,
              int warps) {
  return {{"layout", layout}, {"residency", residency}, {"cores", "one"},
          {"fields", fields}, {"block_size", "32"},     {"warps_per_sm", std::to_string(warps)}};
}

TEST(ShapeFor, KeepsEveryPartAMultipleOfTheUnrollAndTheSecondLonger) {
  for (const double reads : {1.0, 80.0, 333.0, 5000.0}) {
    const Shape shape = shape_for(reads, 8, 1U << 20U, 4);
    EXPECT_GT(shape.second, shape.first);
    for (const auto part : {shape.first, shape.second, shape.cooldown}) {
      EXPECT_EQ(part % 4, 0U);
      EXPECT_GT(part, 0U);
    }
  }
}

TEST(ShapeFor, TimesAboutAsManyReadsAsAskedFor) {
  const Shape shape = shape_for(1000, 8, 1U << 20U, 4);
  EXPECT_NEAR(shape.first + shape.second, 1000, 20);
}

TEST(ShapeFor, NeverReadsMoreThanItMay) {
  for (const std::uint64_t most : {40U, 124U, 240U, 1000U}) {
    EXPECT_LE(shape_for(5000, 8, most, 4).total(), most);
    EXPECT_GT(shape_for(5000, 8, most, 4).total(), most / 2);
  }
  EXPECT_THROW((void)shape_for(5000, 8, 20, 4), Skipped);
}

TEST(ReadsFor, GrowFewerWithTheWarpsOnceTheLevelIsFull) {
  EXPECT_DOUBLE_EQ(reads_for(1e-3, 1e9, 100, 10, 1), 10000);
  EXPECT_DOUBLE_EQ(reads_for(1e-3, 1e9, 100, 10, 10), 10000);
  EXPECT_DOUBLE_EQ(reads_for(1e-3, 1e9, 100, 10, 20), 5000);
}

TEST(Nearest, CountsAcrossTheSeam) {
  EXPECT_EQ(nearest({5, 95, 50}, 100), 10U);
  EXPECT_EQ(nearest({5, 5}, 100), 0U);
  EXPECT_EQ(nearest({5}, 100), 100U);
}

/// A stamp with these ends of warm-up, first and second part.
Stamp stamp_of(std::uint64_t warmup, std::uint64_t first, std::uint64_t second) {
  return {.cycles = {0, second, warmup, first, second},
          .nanoseconds = {0, second},
          .result = 0,
          .core = 0,
          .tag = 0};
}

TEST(CyclesOfARead, OfAWarpAloneIsTheSlopeThatCancelsAConstant) {
  const Shape shape{.warmup = 8, .first = 100, .second = 400, .cooldown = 8};
  // 50 cycles a read and 30 cycles for reading the clock, in each part.
  const Stamp stamp = stamp_of(1000, 1000 + 5030, 1000 + 5030 + 20030);
  EXPECT_DOUBLE_EQ(layout_read::cycles_of_a_read(stamp, shape, true), 50);
}

TEST(CyclesOfARead, AmongOtherWarpsIsTheMean) {
  const Shape shape{.warmup = 8, .first = 100, .second = 400, .cooldown = 8};
  EXPECT_DOUBLE_EQ(layout_read::cycles_of_a_read(stamp_of(0, 40000, 50000), shape, false), 100);
}

TEST(GroupsIn, AreOddAndFit) {
  for (const std::uint64_t bytes : {2048U, 16384U, 32768U, 100000U, 1U << 30U}) {
    const auto groups = layout_read::groups_in(bytes);
    EXPECT_EQ(groups % 2, 1U);
    EXPECT_LE(groups * layout_read::group_bytes, bytes);
    EXPECT_GE((groups + 2) * layout_read::group_bytes, bytes);
  }
}

TEST(Shape, ShortensOnlyTheSecondPart) {
  const Shape shape{.warmup = 8, .first = 16, .second = 64, .cooldown = 12};
  const Lengths lengths = layout_read::lengths_of(shape);
  EXPECT_EQ(shape.at(lengths.full).total(), shape.total());
  EXPECT_EQ(shape.total() - shape.at(lengths.brief).total(),
            lengths.full.work - lengths.brief.work);
  EXPECT_EQ(shape.at(lengths.brief).second, shape.first);
  EXPECT_EQ(shape.at({}).total(), 0U);
}

TEST(StartPosition, GivesWarpsStretchesThatDoNotOverlap) {
  constexpr std::uint32_t sms = 132;
  constexpr std::uint32_t warps = 16;
  constexpr std::uint32_t groups = (1U << 20U) - 1;
  const auto starts = start_positions({.cores = sms, .warps = warps}, groups);
  EXPECT_EQ(starts.size(), sms * warps);
  for (const std::uint32_t start : starts)
    EXPECT_LT(start, groups);
  EXPECT_GE(nearest(starts, groups), groups / (sms * warps));
}

TEST(StartPosition, KeepsTheWarpsOfAnSmFarApart) {
  for (const std::uint32_t warps : {2U, 48U, 64U}) {
    const auto all = start_positions({.cores = 132, .warps = warps}, 15359);
    const auto first = all.begin() + 77 * warps;  // of SM 77
    EXPECT_GE(nearest({first, first + warps}, 15359), 15359 / warps);
  }
}

// --- from a description and a fake sample to rows and gates

GpuFacts gpu() {
  return example_gpu(4);
}
constexpr Shape shape{.warmup = 8, .first = 16, .second = 64, .cooldown = 12};
Point point(Level level, std::uint32_t warps) {
  return {.layout = "aos", .fields = "posmass", .level = level, .cores = 4, .warps = warps};
}
const ParticleChain& chain_of_l2() {
  static const ParticleChain made{1023, layout_read::seed, spare_groups(Level::l2, 4)};
  return made;
}
const Walks& walks(Level level, std::uint32_t warps) {
  static std::map<std::pair<Level, std::uint32_t>, Walks> made;
  const auto [at, fresh] = made.try_emplace({level, warps});
  if (fresh)
    at->second = walks_of(point(level, warps), rings_of(point(level, warps), chain_of_l2()));
  return at->second;
}
Experiment on_gpu(Level level, std::uint32_t warps) {
  return describe(point(level, warps), gpu(), shape, chain_of_l2(),
                  std::make_shared<const Walks>(walks(level, warps)));
}

TEST(Walks, OfSmsThatShareL2HaveARingEach) {
  const Walks& apart = walks(Level::l2, 2);
  ASSERT_EQ(apart.rings.size(), 4U);
  std::set<std::uint32_t> shifts;
  for (std::uint32_t sm = 0; sm < 4; ++sm) {
    const Ring& ring = apart.ring_of(2 * sm);
    EXPECT_EQ(&ring, &apart.ring_of(2 * sm + 1));
    EXPECT_GE(2 * ring.groups(), chain_of_l2().groups());
    EXPECT_EQ(nearest({apart.positions[2 * sm], apart.positions[2 * sm + 1]}, ring.groups()),
              ring.groups() / 2);
    shifts.insert(ring.shift());
  }
  EXPECT_EQ(shifts.size(), 4U);
  EXPECT_GE(2 * apart.groups(), chain_of_l2().groups());
  const auto starts = apart.starts();
  ASSERT_EQ(starts.size(), 8U);
  EXPECT_EQ(starts[5].shift, apart.rings[2].shift());
  EXPECT_EQ(starts[5].group, apart.rings[2].group_at(apart.positions[5]));
  EXPECT_LE(*shifts.rbegin(), spare_groups(Level::l2, 4));
}

TEST(Walks, OfOneSmOrOfMemoryShareTheWholeCycle) {
  Point one = point(Level::l2, 8);
  one.cores = 1;
  for (const Walks& shared : {walks_of(one, rings_of(one, chain_of_l2())), walks(Level::dram, 8)}) {
    ASSERT_EQ(shared.rings.size(), 1U);
    EXPECT_EQ(shared.rings.front().groups(), chain_of_l2().groups());
    EXPECT_EQ(shared.rings.front().shift(), 0U);
  }
}

TEST(LayoutReadWindow, TakesTheMedianOfTheWarpsAndTheSlowestForTheOuterTimer) {
  const Experiment experiment = on_gpu(Level::l2, 8);
  const Slope& slope = experiment.slopes.at(0);
  Launched brief{.length = slope.lengths.brief, .stamps = {}};
  Launched full{.length = slope.lengths.full, .stamps = {}};
  for (const std::uint64_t of_a_read : {100U, 200U, 300U, 400U, 1000U}) {
    full.stamps.push_back(stamp_of(7, 7 + 16 * of_a_read, 7 + 80 * of_a_read));
    brief.stamps.push_back(stamp_of(7, 7 + 16 * of_a_read, 7 + 32 * of_a_read));
  }
  const Inside inside = slope.window.read(brief, full);
  EXPECT_DOUBLE_EQ(inside.cycles, 300);
  EXPECT_DOUBLE_EQ(inside.low, 120);
  EXPECT_DOUBLE_EQ(inside.high, 880);
  EXPECT_DOUBLE_EQ(inside.slowest, 1000);
  EXPECT_DOUBLE_EQ(inside.hertz, 1e9);
  EXPECT_EQ(inside.cells, std::vector<double>{1000}) << "the SM reads on until its last warp ends";
}

/// Stamps of a launch of `total` reads of each warp, every warp on its SM from its own start.
std::vector<Stamp> right_stamps(const Walks& of, std::uint32_t total) {
  std::vector<Stamp> stamps(of.positions.size());
  for (std::uint32_t i = 0; i < stamps.size(); ++i) {
    stamps[i].tag = i;
    stamps[i].core = i / of.warps;
    stamps[i].result = of.ring_of(i).checksum(of.positions[i], total);
  }
  return stamps;
}

TEST(LayoutReadGates, VerifyTheSumOfEveryWarpByTheStartThatItTook) {
  const Experiment experiment = on_gpu(Level::l2, 2);
  const Slope& slope = experiment.slopes.back();
  EXPECT_EQ(slope.writers, 8U);
  auto stamps = right_stamps(walks(Level::l2, 2), shape.total());
  Tally tally;
  slope.verify({.length = slope.lengths.full}, stamps, tally);
  EXPECT_EQ(tally.checked, 8U);
  EXPECT_EQ(tally.different, 0U);
  stamps[3].result += 1;
  stamps[5].tag = 8;  // no start
  stamps[6].tag = 7;  // another warp's
  slope.verify({.length = slope.lengths.full}, stamps, tally);
  EXPECT_EQ(tally.different, 3U);
  EXPECT_EQ(experiment.placement.value().cores, 4U);
  EXPECT_EQ(experiment.placement.value().per_core, 2);
}

TEST(LayoutReadGates, CallWarpsThatStartTooCloseOnOneSmRefuted) {
  const Experiment experiment = on_gpu(Level::l2, 2);
  EXPECT_EQ(experiment.unproved.gate, "level");
  auto stamps = right_stamps(walks(Level::l2, 2), shape.total());
  EXPECT_FALSE(experiment.unproved.refuted(stamps));
  stamps[1].tag = stamps[0].tag;
  EXPECT_TRUE(experiment.unproved.refuted(stamps));
  EXPECT_FALSE(on_gpu(Level::l1, 2).unproved.refuted);  // which all warps read over and over
}

TEST(LayoutReadOnGpu, ReadsNoGroupTwiceBelowL1) {
  constexpr std::uint32_t groups = 15359;
  EXPECT_GE(shape_on_gpu(point(Level::l1, 1), gpu(), 31).warmup, 2 * 31U);
  GpuFacts ampere = gpu();
  ampere.major = 8;
  for (const std::uint32_t warps : {1U, 8U, 64U}) {
    EXPECT_LE(shape_on_gpu(point(Level::l2, warps), ampere, groups).total(), groups / warps);
    EXPECT_LE(shape_on_gpu(point(Level::dram, warps), gpu(), groups).total(), groups / warps / 4);
  }
}

/// Every layout and field set, really measured on this CPU, at the cheapest level.
class OnThisCpu : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(OnThisCpu, MeasuresWithTheRightSums) {
  const auto [layout, fields] = GetParam();
  const CaseRecord record = measure_here("layout_read", params(layout, "l1", fields, 1));
  for (const auto& m : record.measurements)
    EXPECT_EQ(m.samples.size(), 6U);
  const auto keys = keys_of(record);
  EXPECT_TRUE(keys.contains("warp_read_cycles/tsc_slope"));
  EXPECT_TRUE(keys.contains("warp_read_cycles_slowest/monotonic_slope"));
}

INSTANTIATE_TEST_SUITE_P(AllLayouts, OnThisCpu,
                         testing::Combine(testing::Values("aos", "soa", "aoas", "soaoas",
                                                          "aosoa32"),
                                          testing::Values("all", "posmass")),
                         [](const auto& one) {
                           return std::string{std::get<0>(one.param)} + '_' +
                                  std::get<1>(one.param);
                         });

TEST(TimerCheck, AgreesWithItselfOnThisCpu) {
  EXPECT_EQ(measure_here("timer_check", {{"residency", "l1"}}).status, Status::measured);
}

}  // namespace
}  // namespace strata
