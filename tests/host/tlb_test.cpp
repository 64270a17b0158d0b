#include "micro/latency/tlb.hpp"

#include "harness/base/text.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata {
namespace {

constexpr std::uint64_t page = std::uint64_t{2} << 20U;

bool excluded(const std::string& stride, const std::string& footprint,
              Backend backend = Backend::cuda) {
  const Params params{{"allocation", "malloc"}, {"stride", stride}, {"footprint", footprint}};
  return tlb::declare().excludes(params, backend).has_value();
}

TEST(TlbDeclaration, SweepsPagesFromAFewToAHundredGibibytes) {
  const Benchmark b = tlb::declare();
  int cases = 0;
  std::vector<std::string> swept;
  for (const auto& footprint : b.axis("footprint")->defaults) {
    if (excluded("2097152", footprint)) continue;
    EXPECT_EQ(static_cast<std::uint64_t>(whole_number(footprint).value()) % page, 0U);
    swept.push_back(footprint);
    ++cases;
  }
  EXPECT_GE(cases, 80);
  EXPECT_EQ(swept.front(), std::to_string(tlb::least_footprint));
  EXPECT_EQ(swept.back(), std::to_string(tlb::most_footprint));
}

TEST(TlbDeclaration, LeavesOutWhatHasNoMeaning) {
  EXPECT_TRUE(excluded("2097152", "16777216", Backend::host));
  EXPECT_TRUE(excluded("33554432", "33554432"));   // one slot
  EXPECT_TRUE(excluded("33554432", "50331648"));   // a slot and a half
  EXPECT_FALSE(excluded("65536", "17179869184"));  // 2^18 lines: 32 MiB
  EXPECT_TRUE(excluded("65536", "34359738368"));   // more lines than L2 holds
  EXPECT_FALSE(excluded("33554432", std::to_string(tlb::most_footprint)));
}

TEST(TlbWarmLoads, GoRoundOnceWhereTheChainIsShort) {
  EXPECT_EQ(tlb::warm_loads_for(2), 64U);
  EXPECT_EQ(tlb::warm_loads_for(1000), 1008U);
  EXPECT_EQ(tlb::warm_loads_for(65536), 2048U);
}

TEST(TlbRows, AreOfOneWalkerByBothTimers) {
  pointer_chase::Chase chase{.word_at = [](std::uint64_t step) { return 100 + step % 1000; },
                             .walks = {1000, 1000, 1},
                             .warm = tlb::warm_loads_for(1000)};
  const Experiment experiment = tlb::describe(chase);
  const Seen seen{.inside = {.cycles = 500, .slowest = 501, .low = 1, .high = 2, .hertz = 1.9e9},
                  .outside = 505,
                  .seconds = 2.6e-7,
                  .full_seconds = 1};
  EXPECT_EQ(rows_of(experiment, cuda_timers, {.slopes = {seen}, .numbers = {}}),
            (RowsSeen{{"load_cycles by clock64_slope", {500, "cycle"}},
                      {"load_cycles by event_slope", {505, "cycle"}},
                      {"load_time by event_slope", {2.6e-7, "s"}},
                      {"core_clock by clock64_over_globaltimer", {1.9e9, "Hz"}}}));
  EXPECT_EQ(rows_of(experiment, host_timers, {.slopes = {seen}, .numbers = {}})
                .at("load_cycles by tsc_slope")
                .unit,
            "cycle");
  EXPECT_EQ(experiment.unproved.gate, "level");

  experiment.slopes[0].prepare({.length = {.rounds = 48}});
  Tally tally;
  std::vector<Stamp> stamps(1);
  stamps[0].result = 100 + (1008 + 48) % 1000;
  experiment.slopes[0].verify({.length = {.rounds = 48}}, stamps, tally);
  EXPECT_EQ(tally.different, 0U);
  experiment.slopes[0].verify({.length = {.rounds = 64}}, stamps, tally);
  EXPECT_EQ(tally.different, 1U);
}

TEST(TlbCounts, ProveL2AndTakeNoMemoryForProof) {
  pointer_chase::Chase chase{.word_at = [](std::uint64_t step) { return step; },
                             .walks = {1000, 1000, 1}};
  const CountPlan plan = tlb::describe(chase).counts.value();
  EXPECT_EQ(plan.served_by, ServedBy::l2);
  EXPECT_TRUE(plan.memory_is_no_proof);
  EXPECT_EQ(plan.rows, LoadRows::per_load);
  EXPECT_EQ(plan.loads->requests, plan.length.rounds);
  EXPECT_EQ(plan.loads->sectors, plan.length.rounds);
  EXPECT_EQ(plan.reads, plan.length.rounds);
}

TEST(TlbDeclaration, IsKnownToEveryBuild) {
  EXPECT_NE(find_benchmark("tlb"), nullptr);
}

}  // namespace
}  // namespace strata
