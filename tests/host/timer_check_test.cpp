#include "micro/latency/timer_check.cu"

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

TEST(TimerCheckGates, CompareTheInnerClockWithBothTimersOutside) {
  const Experiment experiment = timer_check::describe(word_at);
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

}  // namespace
}  // namespace strata
