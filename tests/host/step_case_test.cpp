// What the cases of all ladders report alike: rows by both timers, counts, phases, limits, facts.
#include "nbody/common/step_case.hpp"

#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace strata {
namespace {

const Sample two_and_four{.numbers = {2, 4, 1e9}};  // seconds by either timer, and the clock

StepCase a_case(Backend backend = Backend::cuda) {
  Rung rung{.name = "rung", .backend = backend, .before = "other", .change = "one thing"};
  rung.kernels = {{"mine", StepPhase::build}};
  return {.rung = rung,
          .steps = 8,
          .timed = {{"work_per_second", "1/s", [](double seconds) { return 100 / seconds; }}},
          .counts = {{"things", 10, 10}},
          .queued = QueuedWork{.counted = {.copies = 16, .bytes = 1600, .launches = 48},
                               .predicted = {.copies = 16, .bytes = 1600, .launches = 48}},
          .lane_slots = 4,
          .sms = 100,
          .different_at_end = [] { return std::size_t{0}; },
          .results = 5,
          .difference = "results differ",
          .sample = [] { return 2.0; }};
}

std::vector<std::string> gates_of(const StepCase& which) {
  FakeSession fake;
  describe(which).conclude(fake.session, {two_and_four});
  std::vector<std::string> all;
  for (const Gate& gate : fake.record.gates)
    all.push_back(gate.name + ' ' + std::string{to_string(gate.verdict)});
  return all;
}
using Gates = std::vector<std::string>;

TEST(StepCases, ReportQuantitiesByBothTimersAndQueuedWorkPerStep) {
  const auto rows = rows_of(describe(a_case()), cuda_timers, two_and_four);
  constexpr Provenance counted = Provenance::counted;
  constexpr Provenance modelled = Provenance::modelled;
  EXPECT_EQ(rows,
            (RowsSeen{{"work_per_second by event", {50, "1/s"}},
                      {"work_per_second by globaltimer", {25, "1/s"}},
                      {"core_clock by clock64_over_globaltimer", {1e9, "Hz"}},
                      {"copies by code", {2, "1", counted}},
                      {"copies by model", {2, "1", modelled}},
                      {"copied_bytes by code", {200, "B", counted}},
                      {"copied_bytes by model", {200, "B", modelled}},
                      {"launches by code", {6, "1", counted}},
                      {"launches by model", {6, "1", modelled}},
                      {"issue_limit by issue_slots", {100 * 128 * 1e9 / 4, "1/s", modelled}}}));
}

TEST(StepCases, OfACpuHaveItsTimers) {
  StepCase which = a_case(Backend::host);
  which.queued.reset();
  which.sms = 0;
  const auto rows = rows_of(describe(which), host_timers, two_and_four);
  EXPECT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.at("work_per_second by monotonic").value, 50);
  EXPECT_EQ(rows.at("work_per_second by tsc").value, 25);
}

TEST(StepCases, CompareTheirTimersAndTheirClock) {
  const Experiment experiment = describe(a_case());
  for (const auto& [inner, verdict] :
       {std::pair{2.01, Verdict::passed}, std::pair{2.1, Verdict::failed}})
    EXPECT_EQ(verdict_of("timer", experiment, {{.numbers = {2, inner, 1e9}}}), verdict) << inner;
  EXPECT_EQ(verdict_of("clock", experiment, {{.numbers = {2, 2, 1e9}}, {.numbers = {2, 2, 1.1e9}}}),
            Verdict::failed);
}

TEST(StepCases, CompareResultsCountsAndQueuedWork) {
  EXPECT_EQ(gates_of(a_case()), (Gates{"result passed", "model passed", "model passed"}));
  StepCase count = a_case();
  count.counts.front().counted = 9;
  EXPECT_EQ(gates_of(count), (Gates{"result passed", "model failed", "model passed"}));
  StepCase wrong = a_case();
  wrong.different_at_end = [] { return std::size_t{1}; };
  EXPECT_EQ(gates_of(wrong), (Gates{"result failed", "model passed", "model passed"}));
  for (const int which : {0, 1, 2}) {
    StepCase queued = a_case();
    Queued& counted = queued.queued->counted;
    ++(which == 0 ? counted.copies : which == 1 ? counted.bytes : counted.launches);
    EXPECT_EQ(gates_of(queued), (Gates{"result passed", "model passed", "model failed"}));
  }
}

TEST(StepCases, HaveALimitOnlyWhereInstructionsWereCountedAndTheDeviceIsAGpu) {
  StepCase unlimited = a_case();
  unlimited.lane_slots = 0;
  StepCase no_gpu = a_case();
  no_gpu.sms = 0;
  for (const StepCase& which : {unlimited, no_gpu}) {
    const auto rows = rows_of(describe(which), cuda_timers, two_and_four);
    EXPECT_EQ(rows.count("issue_limit by issue_slots"), 0U);
  }
}

TEST(StepCases, AreTracedByTheKernelsOfTheRung) {
  const Experiment experiment = describe(a_case());
  ASSERT_TRUE(experiment.trace);
  EXPECT_EQ(experiment.trace->steps, 8);
  EXPECT_EQ(experiment.trace->queued, (Queued{.copies = 16, .bytes = 1600, .launches = 48}));
  std::vector<std::string> kernels;
  for (const KernelPhase& kernel : experiment.trace->kernels)
    kernels.push_back(kernel.function);
  EXPECT_EQ(kernels, (std::vector<std::string>{"mine"}));
  StepCase none = a_case();
  none.sample = nullptr;
  EXPECT_FALSE(describe(none).trace);
}

TEST(StepCases, AreTracedInAProcessThatDoesNothingElse) {
  Tracer tracer;
  FakeMachine machine{1};
  FakeSession fake;
  fake.counting.tracer = &tracer;
  fake.counting.timed_steps = {0.25};
  Experiment experiment = describe(a_case());
  measure(fake.session, machine, experiment);
  EXPECT_EQ(fake.verdict("phases"), Verdict::passed);
  EXPECT_EQ(fake.verdict("model"), Verdict::failed) << "nothing of what was queued was recorded";
  ASSERT_EQ(fake.record.measurements.size(), 1U);
  EXPECT_EQ(fake.record.measurements[0].quantity, "phase_idle");
}

TEST(StepCases, HaveTheStoryAmongTheirFacts) {
  StepCase which = a_case();
  which.facts = {{"registers", std::int64_t{40}}};
  const Experiment experiment = describe(which);
  const Facts facts = experiment.facts(experiment);
  EXPECT_EQ(std::get<std::string>(facts.at("before")), "other");
  EXPECT_EQ(std::get<std::string>(facts.at("change")), "one thing");
  EXPECT_EQ(std::get<std::int64_t>(facts.at("registers")), 40);
}

}  // namespace
}  // namespace strata
