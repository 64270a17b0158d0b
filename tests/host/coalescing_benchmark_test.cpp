#include "harness/model/lanes.hpp"
#include "harness/model/word_patterns.hpp"
#include "micro/access/coalescing.hpp"
#include "micro/pattern/particle_chain.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <set>

namespace strata::coalescing {
namespace {

Pattern pattern(std::uint32_t width, std::uint32_t stride, std::uint32_t misalignment) {
  return {.width = width, .elements = lane_elements(stride, misalignment, Permutation::identity)};
}

constexpr GpuFacts gpu(std::uint32_t sms = 132, std::uint64_t l2_bytes = 60U << 20U) {
  GpuFacts facts;
  facts.sms = sms;
  facts.major = 9;
  facts.l2_bytes = l2_bytes;
  return facts;
}

TEST(CoalescingWindows, ContainTheirPatternInAnOddNumberOfWholeLines) {
  for (const std::uint32_t width : {1U, 2U, 4U, 8U, 16U}) {
    for (const std::uint32_t stride : {1U, 2U, 7U, 32U, 33U, max_stride}) {
      for (const std::uint32_t misalignment : {0U, 1U, max_misalignment}) {
        const auto p = pattern(width, stride, misalignment);
        const auto windows = windows_for(p, gpu());
        EXPECT_LE(*load_of(p).addresses.back() + width, windows.bytes);
        EXPECT_EQ(windows.bytes / line_bytes % 2, 1U);
        EXPECT_EQ(windows.bytes % line_bytes, 0U);
      }
    }
  }
}

TEST(CoalescingWindows, AreOfOneLoadEachAndTogetherInAThirdOfL2) {
  for (const GpuFacts& chip : {gpu(), gpu(132, 50U << 20U)}) {
    for (const std::uint32_t width : {1U, 2U, 4U, 8U, 16U}) {
      for (std::uint32_t stride = 1; stride <= max_stride; ++stride) {
        const auto p = pattern(width, stride, 0);
        const auto windows = windows_for(p, chip);
        EXPECT_EQ(windows.count, chip.sms * warps_for(p, chip) * loads_per_round);
        const auto lines = traffic(Generation::cc7, load_of(p)).lines;
        EXPECT_LE(windows.count * lines * line_bytes, chip.l2_bytes / 3);
      }
    }
  }
}

TEST(CoalescingWindows, OfManyLinesAreOfFewerWarps) {
  EXPECT_EQ(warps_for(pattern(4, 1, 0), gpu()), most_warps);
  EXPECT_EQ(warps_for(pattern(4, 16, 0), gpu()), 16U);
  EXPECT_EQ(warps_for(pattern(4, 32, 0), gpu()), least_warps);
}

TEST(CoalescingWindows, AreSharedWhereL2HasNoRoomForThoseOfTheFewestWarps) {
  const GpuFacts poor = gpu(40, 4U << 20U);
  EXPECT_EQ(warps_for(pattern(16, 128, 0), poor), least_warps);
  EXPECT_EQ(windows_for(pattern(16, 128, 0), poor).count, 340U);
  EXPECT_EQ(windows_for(pattern(16, 128, 0), gpu(1, 1024)).count, loads_per_round);
}

TEST(CoalescingWindows, AreReadInRandomOrderOnceEach) {
  constexpr Windows windows{.count = 4096, .bytes = line_bytes};
  std::vector<std::uint32_t> order = order_of(windows);
  std::uint32_t beside = 0;
  for (std::size_t i = 1; i < order.size(); ++i)
    beside += order[i] == order[i - 1] + 1 ? 1 : 0;
  EXPECT_LT(beside, 16U);
  EXPECT_EQ(order, order_of(windows));
  std::ranges::sort(order);
  for (std::uint32_t i = 0; i < windows.count; ++i)
    EXPECT_EQ(order[i], i);
}

TEST(CoalescingPattern, AsksForTheKnownSectorsOfPlainStrides) {
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(4, 1, 0))).sectors, 4U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(4, 1, 1))).sectors, 5U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(4, 2, 0))).sectors, 8U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(4, 7, 0))).sectors, 28U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(4, 32, 0))).sectors, 32U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(16, 1, 0))).sectors, 16U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(1, 1, 31))).sectors, 2U);
}

TEST(CoalescingSums, AreThoseOfAPlainLoopOverAllLoads) {
  const auto p = pattern(2, 3, 1);
  constexpr Windows windows{.count = 8, .bytes = 3 * line_bytes};
  const auto order = order_of(windows);
  std::uint32_t sum = 0;
  for (std::uint32_t load = 0; load < loads_per_round; ++load) {
    const std::uint32_t window = order.at((5 * loads_per_round + load) % windows.count);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t byte = window * windows.bytes + 2 * (3 * lane + 1);
      const std::uint32_t value = (hashed_word(byte / 4) >> (8 * (byte % 4))) & 0xFFFFU;
      sum += lane_weight(lane) * value;
    }
  }
  EXPECT_EQ(expected_sum(p, windows, order, /*warp=*/5), sum);
}

TEST(CoalescingSums, TellPermutationsApart) {
  const auto straight = pattern(4, 1, 0);
  auto turned = straight;
  std::ranges::reverse(turned.elements);
  constexpr Windows windows{.count = 8, .bytes = line_bytes};
  const auto order = order_of(windows);
  EXPECT_NE(expected_sum(straight, windows, order, 0), expected_sum(turned, windows, order, 0));
}

TEST(CoalescingRounds, TakeAboutTheTimeThatTheyShould) {
  for (const std::uint64_t sectors : {1U, 4U, 32U}) {
    for (const std::uint32_t warps : {8U, 32U}) {
      const double cycles = rounds_for(4e5, sectors, warps) * double{1} * warps * loads_per_round *
                            std::max(4.0, static_cast<double>(sectors) / 2);
      EXPECT_NEAR(cycles, 4e5, 3e3);
    }
  }
  EXPECT_EQ(rounds_for(1, 32, 32), 1U);
}

TEST(CoalescingRows, AreOfAWarpLoadAndOfTheBytesOfTheWholeChip) {
  const Experiment experiment = describe(pattern(4, 2, 0), gpu(100));  // 128 bytes in 8 sectors
  const Seen seen{.inside = {.cycles = 8, .slowest = 8, .hertz = 1.5e9},
                  .outside = 8.1,
                  .seconds = 5e-9,
                  .full_seconds = 3e-4};
  const auto rows = rows_of(experiment, cuda_timers, {.slopes = {seen}, .numbers = {}});
  EXPECT_EQ(rows, (RowsSeen{{"warp_load_cycles by clock64_slope", {8, "cycle"}},
                            {"warp_load_cycles by event_slope", {8.1, "cycle"}},
                            {"grid_time by event", {3e-4, "s"}},
                            {"useful_bandwidth by event_slope", {100 * 128 / 5e-9, "B/s"}},
                            {"sector_bandwidth by event_slope", {100 * 256 / 5e-9, "B/s"}},
                            {"core_clock by clock64_over_globaltimer", {1.5e9, "Hz"}}}));
}

TEST(CoalescingGates, CompareTheSlowestWarpWithTheEvents) {
  const Experiment experiment = describe(pattern(4, 1, 0), gpu(100));
  const auto verdict = [&](double slowest, double outside) {
    const Seen seen{.inside = {.cycles = 1, .slowest = slowest, .hertz = 1e9}, .outside = outside};
    return verdict_of("timer", experiment, {{.slopes = {seen}, .numbers = {}}});
  };
  EXPECT_EQ(verdict(8, 8.1), Verdict::passed);
  EXPECT_EQ(verdict(8, 8.2), Verdict::failed);
  EXPECT_EQ(experiment.placement->cores, 100U);
  EXPECT_EQ(experiment.placement->per_core, int{most_warps});
  EXPECT_EQ(experiment.unproved.gate, "level");
}

TEST(CoalescingGates, VerifyTheSumOfEveryWarp) {
  const auto p = pattern(4, 2, 0);
  const Experiment experiment = describe(p, gpu(100));
  const Slope& slope = experiment.slopes.at(0);
  EXPECT_EQ(slope.writers, 100U * most_warps);
  EXPECT_EQ(slope.window.name, "slowest writer");
  EXPECT_EQ(slope.lengths.full.rounds, 5 * slope.lengths.brief.rounds);
  EXPECT_EQ(slope.lengths.full.work, slope.lengths.full.rounds * 4.0 * most_warps);
  const auto windows = windows_for(p, gpu(100));
  const auto order = order_of(windows);
  std::vector<Stamp> stamps(100 * most_warps);
  for (std::uint32_t warp = 0; warp < stamps.size(); ++warp)
    stamps[warp].result = 7 * expected_sum(p, windows, order, warp);
  stamps[5].result += 1;
  Tally tally;
  slope.verify({.length = {.rounds = 7}}, stamps, tally);
  EXPECT_EQ(tally.checked, stamps.size());
  EXPECT_EQ(tally.different, 1U);
}

TEST(CoalescingCounts, AreThoseOfTheModelFromL2) {
  const Experiment experiment = describe(pattern(4, 2, 0), gpu(100));
  const CountPlan& plan = experiment.counts.value();
  const std::uint64_t loads = 100U * most_warps * loads_per_round * 32;
  EXPECT_EQ(plan.length.rounds, 32U);
  EXPECT_EQ(plan.none.rounds, 0U);
  EXPECT_EQ(plan.loads.value().requests, loads);
  EXPECT_EQ(plan.loads.value().sectors, 8 * loads);
  EXPECT_EQ(plan.loads.value().repeated_sectors, 0U);
  EXPECT_EQ(plan.served_by, ServedBy::l2);
  EXPECT_EQ(plan.reads, static_cast<double>(loads));
  EXPECT_EQ(plan.warps_per_sm, most_warps);
  EXPECT_EQ(plan.rows, LoadRows::per_read);
}

TEST(CoalescingDeclaration, IsKnownToEveryBuild) {
  EXPECT_NE(find_benchmark("coalescing"), nullptr);
}

}  // namespace
}  // namespace strata::coalescing
