#include "micro/latency/timer_check.hpp"

#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace strata {
namespace {

std::uint64_t word_at(std::uint32_t step) {
  return 5 * (step % timer_check::slots);
}

Sample sample(double inside, double outside, double graph_seconds) {
  return {.slopes = {{.inside = {.cycles = inside, .slowest = inside, .hertz = 2e9},
                      .outside = outside}},
          .numbers = {graph_seconds}};
}

TEST(TimerCheckRows, AreOfThreeTimersOnAGpu) {
  EXPECT_EQ(rows_of(timer_check::describe_gpu(word_at), cuda_timers, sample(32, 32.2, 1.65e-8)),
            (RowsSeen{{"load_cycles by clock64_slope", {32, "cycle"}},
                      {"load_cycles by event_slope", {32.2, "cycle"}},
                      {"load_cycles by graph_slope", {33, "cycle"}},
                      {"core_clock by clock64_over_globaltimer", {2e9, "Hz"}}}));
}

TEST(TimerCheckRows, AreOfTwoTimersOnACpu) {
  EXPECT_EQ(rows_of(timer_check::describe(64, 128, word_at), host_timers, sample(5, 5.1, 0)),
            (RowsSeen{{"load_cycles by tsc_slope", {5, "cycle"}},
                      {"load_cycles by monotonic_slope", {5.1, "cycle"}},
                      {"core_clock by dependent_adds", {2e9, "Hz"}}}));
}

TEST(TimerCheckGates, CompareTheInnerClockWithBothTimersOutside) {
  const Experiment experiment = timer_check::describe_gpu(word_at);
  const auto verdicts = [&](double inside, double outside, double graph_seconds) {
    FakeSession fake;
    report(fake.session, cuda_timers, experiment,
           Collection<Sample>{.kept = {sample(inside, outside, graph_seconds)}});
    std::vector<Verdict> found;
    for (const Gate& gate : fake.record.gates) {
      if (gate.name == "timer") found.push_back(gate.verdict);
    }
    return found;
  };
  constexpr auto passed = Verdict::passed;
  constexpr auto failed = Verdict::failed;
  EXPECT_EQ(verdicts(32, 32.1, 1.6e-8), (std::vector{passed, passed}));
  EXPECT_EQ(verdicts(32, 32.5, 1.6e-8), (std::vector{failed, passed}));  // bound 1 %, not 2 %
  EXPECT_EQ(verdicts(32, 33, 1.6e-8), (std::vector{failed, passed}));
  EXPECT_EQ(verdicts(32, 32.1, 1.65e-8), (std::vector{passed, failed}));
}

TEST(TimerCheckGates, VerifyTheEndOfTheChain) {
  const Experiment experiment = timer_check::describe_gpu(word_at);
  const Slope& slope = experiment.slopes.at(0);
  EXPECT_TRUE(slope.held) << "the first event may else be reached long before the kernel starts";
  EXPECT_EQ(slope.lengths.full.work, 1U << 15U);
  EXPECT_EQ(slope.lengths.brief.work, 1U << 13U);
  std::vector<Stamp> stamps(1);
  stamps[0].result = word_at(70);
  Tally tally;
  slope.verify({.length = {.rounds = 1024 + 70}}, stamps, tally);
  EXPECT_EQ(tally.different, 0U);
  slope.verify({.length = {.rounds = 71}}, stamps, tally);
  EXPECT_EQ(tally.different, 1U);
  EXPECT_EQ(experiment.unproved.gate, "level");
}

TEST(TimerCheckCounts, AreOneRequestAndSectorALoadFromL1) {
  const CountPlan plan = timer_check::describe_gpu(word_at).counts.value();
  EXPECT_EQ(plan.served_by, ServedBy::l1);
  EXPECT_EQ(plan.loads->requests, plan.length.rounds);
  EXPECT_EQ(plan.loads->sectors, plan.length.rounds);
  EXPECT_EQ(plan.reads, plan.length.rounds);
  EXPECT_EQ(plan.rows, LoadRows::per_read);
}

}  // namespace
}  // namespace strata
