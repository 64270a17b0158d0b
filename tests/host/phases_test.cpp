// From records of what ran when to the phases of a step; and the rows and gates that they become.
#include "harness/measure/phases.hpp"

#include "fakes.hpp"
#include "harness/counters/tracer.hpp"
#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Of = Activity::Of;

const std::vector<KernelPhase> kernels{
    {"step_of", StepPhase::search}, {"count", StepPhase::build}, {fill_name, StepPhase::build}};

/// Nanoseconds, from an arbitrary beginning.
constexpr std::int64_t epoch = 1'700'000'000'000'000'000;
Activity kernel(const char* name, std::int64_t begin, std::int64_t end) {
  return {.of = Of::kernel, .kernel = name, .begin = epoch + begin, .end = epoch + end};
}
Activity copy(Of of, std::int64_t begin, std::int64_t end, std::uint64_t bytes) {
  return {.of = of, .begin = epoch + begin, .end = epoch + end, .bytes = bytes};
}
Activity host(StepPhase phase, std::int64_t begin, std::int64_t end) {
  return {.of = Of::host, .host = phase, .begin = epoch + begin, .end = epoch + end};
}
std::int64_t of(const Divided& divided, StepPhase phase) {
  return divided.nanoseconds.at(static_cast<std::size_t>(phase));
}

TEST(KernelFunction, IsTheNameWithoutWhereItIsAndWhatItIsGiven) {
  EXPECT_EQ(kernel_function("_ZN6strata5countEj"), "count");
  EXPECT_EQ(kernel_function("_ZN6strata12_GLOBAL__N_17step_ofILi0EEEvj"), "step_of");
  EXPECT_EQ(kernel_function("_ZN3cub6detail4scan16DeviceScanKernelIPiNS_4lessIiEEEEvT_T0_"),
            "DeviceScanKernel");
  // As nvcc calls them.
  EXPECT_EQ(kernel_function(
                "_ZN6strata10neighbours4runs45_GLOBAL__N__2136ac54_7_runs_cu_bfa83e87_272487step_"
                "ofILNS0_4KindE0EEEvNS0_10KernelStepENS0_7AskRunsE"),
            "step_of");
  EXPECT_EQ(kernel_function(
                "_ZN3cub17CUB_300001_SM_9006detail4scan16DeviceScanKernelINS2_10policy_hubIjjjjN4"
                "cuda3std3__44plusIvEEE10Policy1000EPjSC_NS0_13ScanTileStateIjLb1EEES9_NS1_10Inpu"
                "tValueIjSC_EEjjLb0EjEEvT0_T1_T2_iT3_T4_T5_"),
            "DeviceScanKernel");
  EXPECT_EQ(kernel_function("plain"), "plain");
  EXPECT_EQ(kernel_function(""), "");
}

TEST(Divide, GivesEachPhaseItsTimeAndLeavesTheRestIdle) {
  const std::vector<Activity> records{copy(Of::copy_in, 10, 30, 64), kernel("count", 40, 45),
                                      kernel("step_of", 50, 80), copy(Of::copy_out, 90, 100, 8)};
  const Divided divided = divide(records, kernels, 100e-9);
  EXPECT_EQ(of(divided, StepPhase::copy_in), 20);
  EXPECT_EQ(of(divided, StepPhase::build), 5);
  EXPECT_EQ(of(divided, StepPhase::search), 30);
  EXPECT_EQ(of(divided, StepPhase::copy_out), 10);
  EXPECT_EQ(of(divided, StepPhase::idle), 35);
  EXPECT_EQ(of(divided, StepPhase::sum), 0);
  EXPECT_DOUBLE_EQ(divided.seconds(), 100e-9);
  EXPECT_EQ(divided.queued, (Queued{.copies = 2, .bytes = 72, .launches = 2}));
  EXPECT_EQ(divided.queued_in, (Queued{.copies = 1, .bytes = 64, .launches = 2}));
  EXPECT_EQ(divided.outside, 0);
}

TEST(Divide, AttributesOverlapToTheDeviceBeforeTheHost) {
  const std::vector<Activity> records{kernel("step_of", 0, 50), host(StepPhase::build, 30, 80),
                                      kernel("step_of", 70, 100)};
  const Divided divided = divide(records, kernels, 100e-9);
  EXPECT_EQ(of(divided, StepPhase::search), 80);
  EXPECT_EQ(of(divided, StepPhase::build), 20);
  EXPECT_EQ(of(divided, StepPhase::idle), 0);
}

TEST(Divide, PrefersTheLaterOfTwoOverlappingRecordsOfOneSide) {
  const std::vector<Activity> records{host(StepPhase::search, 0, 100),
                                      host(StepPhase::build, 20, 40),
                                      host(StepPhase::build, 60, 70)};
  const Divided divided = divide(records, kernels, 100e-9);
  EXPECT_EQ(of(divided, StepPhase::search), 70);
  EXPECT_EQ(of(divided, StepPhase::build), 30);
}

TEST(Divide, NamesAKernelWithoutPhaseOnceAndCountsItsTimeAsIdle) {
  const std::vector<Activity> records{kernel("step_of", 0, 50), kernel("stray", 50, 60),
                                      kernel("stray", 70, 100)};
  const Divided divided = divide(records, kernels, 100e-9);
  EXPECT_THAT(divided.unknown, ElementsAre("stray"));
  EXPECT_EQ(of(divided, StepPhase::idle), 50);
  EXPECT_THAT(divide({records.data(), 1}, kernels, 1e-7).unknown, IsEmpty());
}

TEST(Divide, CutsOffRecordsBeforeTheSampleAndReportsTheirTime) {
  const std::vector<Activity> records{copy(Of::copy_in, 0, 30, 4), host(StepPhase::build, 5, 35),
                                      kernel("step_of", 40, 100)};
  const Divided divided = divide(records, kernels, 80e-9);
  EXPECT_EQ(of(divided, StepPhase::copy_in), 10);
  EXPECT_EQ(of(divided, StepPhase::build), 5);
  EXPECT_DOUBLE_EQ(divided.outside, 20e-9) << "the host may begin before the timer's first event";
  EXPECT_DOUBLE_EQ(divided.seconds(), 80e-9);
}

TEST(Divide, OfNothingAllIsIdle) {
  EXPECT_EQ(of(divide({}, kernels, 50e-9), StepPhase::idle), 50);
}

/// Samples of two steps, of so many seconds each.
std::vector<Divided> samples_of(double step) {
  const auto end = static_cast<std::int64_t>(2e9 * step);
  const std::vector<Activity> records{kernel("step_of", 0, end)};
  return {divide(records, kernels, 2 * step)};
}

TEST(PhasesGate, HoldsWithinThreePercentAndTenOfBriefSteps) {
  const auto verdict = [](double step, const std::vector<double>& timed) {
    return phases_gate(samples_of(step), 2, timed).verdict;
  };
  EXPECT_EQ(verdict(1.029e-2, {1e-2}), Verdict::passed);
  EXPECT_EQ(verdict(1.031e-2, {1e-2}), Verdict::failed);
  EXPECT_EQ(verdict(0.969e-2, {1e-2}), Verdict::failed);
  EXPECT_EQ(verdict(1.09e-4, {1e-4}), Verdict::passed);
  EXPECT_EQ(verdict(1.11e-4, {1e-4}), Verdict::failed);
  EXPECT_EQ(verdict(1e-4, {}), Verdict::unverified);
}

TEST(PhasesGate, HoldsBetweenTheVisits) {
  const auto gate = [](double step) {
    return phases_gate(samples_of(step), 2, std::vector{1.2e-2, 1e-2, 1.1e-2});
  };
  EXPECT_EQ(gate(0.971e-2).verdict, Verdict::passed);
  EXPECT_EQ(gate(1.15e-2).verdict, Verdict::passed);
  EXPECT_EQ(gate(1.235e-2).verdict, Verdict::passed);
  EXPECT_EQ(gate(0.969e-2).verdict, Verdict::failed);
  EXPECT_EQ(gate(1.44e-2).verdict, Verdict::failed);
  EXPECT_THAT(gate(1.44e-2).detail,
              HasSubstr("0.0144 s per step, 1.200 of the timed step (bound 3 %), "
                        "for which visits took 0.01 to 0.012 s"));
}

TEST(PhasesGate, FailsWithAKernelThatNoPhaseIsDeclaredFor) {
  const std::vector<Activity> records{kernel("stray", 0, 100)};
  const Gate gate = phases_gate(std::vector{divide(records, kernels, 1e-7)}, 1, std::vector{1e-7});
  EXPECT_EQ(gate.verdict, Verdict::failed);
  EXPECT_EQ(gate.detail, "no phase is declared for stray");
}

TEST(Divided, CountsAGraphOnceForEachOfItsLaunches) {
  std::vector<Activity> records;
  for (const std::uint64_t launch : {0, 5, 5, 5, 9, 9, 0}) {
    records.push_back(kernel("step_of", 0, 10));
    records.back().graph_launch = launch;
  }
  EXPECT_EQ(divide(records, kernels, 1e-6).queued.launches, 4U);
}

TEST(PhasesGate, FailsWhereRecordsLieOutsideOfTheSample) {
  const std::vector<Activity> records{kernel("step_of", 0, 50'000'000),
                                      kernel("step_of", 50'000'000, 100'000'000)};
  EXPECT_EQ(phases_gate(std::vector{divide(records, kernels, 0.09)}, 1, std::vector{0.09}).verdict,
            Verdict::failed);
}

/// Gives the same records for each sample.
class FakeTracer final : public Tracer {
 public:
  explicit FakeTracer(std::vector<Activity> records) : records_{std::move(records)} {}
  [[nodiscard]] const char* method() const override { return "fake"; }
  [[nodiscard]] bool slows() const override { return slow; }
  void begin() override {
    Tracer::begin();
    ++begun;
    prepared = false;
  }
  [[nodiscard]] std::vector<Activity> end() override {
    EXPECT_FALSE(prepared) << "what prepares a sample is in its records";
    std::vector<Activity> all = Tracer::end();
    all.insert(all.end(), records_.begin(), records_.end());
    return all;
  }
  int begun = 0;
  bool slow = false;
  bool prepared = false;  ///< since begin()

 private:
  std::vector<Activity> records_;
};

/// A case of 4 steps of 25 ms that is traced, each sample of 0.1 s with a copy of 1 s / 10⁸.
struct Traced {
  explicit Traced(double timed_step) : counting{.tracer = &tracer, .timed_steps = {timed_step}} {}

  void run(const TracePlan& plan) {
    trace_phases(session, tracer, plan, [this] {
      ++prepared;
      tracer.prepared = true;
    });
  }
  [[nodiscard]] TracePlan plan() const {
    return {.run = [] { return 0.1; },
            .kernels = kernels,
            .steps = 4,
            .queued = Queued{.copies = 1, .bytes = 64, .launches = 1}};
  }

  FakeTracer tracer{
      {copy(Of::copy_in, 0, 20'000'000, 64), kernel("step_of", 20'000'000, 100'000'000)}};
  Plan sampling;
  FakeDevice device;
  Cache cache;
  CaseRecord record;
  Counting counting;
  Session session{sampling, device, cache, record, counting};
  int prepared = 0;
};

TEST(TracePhases, AddsARowForEachPhaseThatOccursAndWhatWasQueued) {
  Traced traced{0.025};
  traced.run(traced.plan());
  std::vector<std::string> rows;
  for (const Measurement& m : traced.record.measurements)
    rows.push_back(m.quantity + " " + std::to_string(m.samples.front()));
  EXPECT_THAT(rows, ElementsAre("phase_copy_in 0.005000", "phase_search 0.020000",
                                "copies_in 0.250000", "copied_in_bytes 16.000000",
                                "copies 0.250000", "copied_bytes 16.000000", "launches 0.250000"));
  EXPECT_EQ(traced.record.measurements.front().samples.size(), 7U);
  EXPECT_EQ(traced.record.measurements.front().method, "fake");
  EXPECT_EQ(traced.prepared, 8) << "each sample, and a warm-up";
  EXPECT_EQ(traced.tracer.begun, 7);
  ASSERT_EQ(traced.record.gates.size(), 2U);
  for (const Gate& gate : traced.record.gates)
    EXPECT_EQ(gate.verdict, Verdict::passed) << gate.detail;
}

TEST(TracePhases, LeavesOutWhatRecordingTook) {
  // Without records 0.102 s, of which 0.1 are in records; with them 0.11.
  Traced traced{0.0255};
  traced.tracer.slow = true;
  TracePlan plan = traced.plan();
  plan.run = [&] { return traced.tracer.begun > 0 ? 0.11 : 0.102; };
  traced.run(plan);
  EXPECT_EQ(traced.prepared, 1 + 7 + 2 * 7) << "a warm-up, 7 unrecorded, 7 recorded after another";
  const auto idle =
      std::ranges::find(traced.record.measurements, "phase_idle", &Measurement::quantity);
  ASSERT_NE(idle, traced.record.measurements.end());
  for (const double sample : idle->samples)
    EXPECT_NEAR(sample, 0.0005, 1e-9);
  EXPECT_EQ(traced.record.gates.front().verdict, Verdict::passed);
  EXPECT_THAT(traced.record.gates.front().detail, HasSubstr("recording took 0.002 s"));
}

TEST(Divided, HasNoLessThanNoIdleTime) {
  Divided one = divide(std::vector{kernel("step_of", 0, 50'000'000)}, kernels, 0.06);
  one.take_out(0.02);
  EXPECT_DOUBLE_EQ(one.of(StepPhase::idle), 0);
  EXPECT_DOUBLE_EQ(one.recording, 0.01);
  one.take_out(-0.02);
  EXPECT_DOUBLE_EQ(one.of(StepPhase::idle), 0) << "a slow sample without records";
}

TEST(Divided, TakesWhatIsLeftOutOfTheHostsWork) {
  // 10 ms of allocations, 40 of building, of which the device hides 10, and 20 of searching.
  const std::vector<Activity> records{host(StepPhase::allocate, 0, 10'000'000),
                                      host(StepPhase::build, 10'000'000, 50'000'000),
                                      kernel("step_of", 40'000'000, 60'000'000)};
  Divided one = divide(records, kernels, 0.065);
  one.take_out(0.013);
  EXPECT_DOUBLE_EQ(one.of(StepPhase::idle), 0);
  EXPECT_DOUBLE_EQ(one.of(StepPhase::allocate), 0.008);
  EXPECT_DOUBLE_EQ(one.of(StepPhase::build), 0.024);
  EXPECT_DOUBLE_EQ(one.of(StepPhase::search), 0.02);
  EXPECT_DOUBLE_EQ(one.recording, 0.013);
  one.take_out(1);
  EXPECT_DOUBLE_EQ(one.seconds(), 0.02) << "the device's time stays";
}

TEST(TracePhases, SaysWhereOtherThingsWereRecordedThanQueued) {
  Traced traced{0.025};
  TracePlan plan = traced.plan();
  plan.queued->launches = 2;
  traced.run(plan);
  EXPECT_EQ(traced.record.gates.back().name, "model");
  EXPECT_EQ(traced.record.gates.back().verdict, Verdict::failed);
  EXPECT_THAT(traced.record.gates.back().detail, HasSubstr("1 launches counted, 2 predicted"));
}

TEST(TracePhases, RefusesASampleWithWrongResults) {
  Traced traced{0.025};
  TracePlan plan = traced.plan();
  plan.different = [] { return std::size_t{3}; };
  EXPECT_THROW(traced.run(plan), std::runtime_error);
}

/// Marks of a queue whose clock begins anew with the first, and which records its marks.
class FakeMarks final : public DeviceMarks {
 public:
  explicit FakeMarks(std::vector<std::int64_t> reached) : reached_{std::move(reached)} {}
  void clear() override { put_ = 0; }
  void put(void* queue) override {
    EXPECT_EQ(queue, this);
    ++put_;
  }
  [[nodiscard]] std::vector<std::int64_t> nanoseconds() override {
    return {reached_.begin(), reached_.begin() + static_cast<std::ptrdiff_t>(put_)};
  }

 private:
  std::vector<std::int64_t> reached_;
  std::size_t put_ = 0;
};

TEST(MarkTracer, TellsWhenEachPieceRanOnTheClockOfTheHost) {
  auto marks = std::make_unique<FakeMarks>(std::vector<std::int64_t>{0, 20, 30, 70});
  void* const queue = marks.get();
  MarkTracer tracer{std::move(marks)};
  for (int sample = 0; sample < 2; ++sample) {
    tracer.begin();
    const std::int64_t before = tracer.now();
    int worked = 0;
    const auto work = [&] { ++worked; };
    queue_piece(&tracer, queue, copy(Of::copy_in, 0, 0, 64), work);
    queue_piece(&tracer, queue, {.kernel = "step_of", .count = 2}, work);
    const std::int64_t after = tracer.now();
    { const HostPhase building{&tracer, StepPhase::build}; }
    EXPECT_EQ(worked, 2);
    const std::vector<Activity> all = tracer.end();
    ASSERT_EQ(all.size(), 3U) << "nothing is left of the sample before";
    EXPECT_EQ(all[0].of, Of::host);
    EXPECT_GE(all[1].begin, before);
    EXPECT_LE(all[1].begin, after);
    EXPECT_EQ(all[1].end - all[1].begin, 20);
    EXPECT_EQ(all[2].begin - all[1].begin, 30);
    EXPECT_EQ(all[2].end - all[1].begin, 70);
    const Divided divided = divide(std::span{all}.subspan(1), kernels, 70e-9);
    EXPECT_EQ(of(divided, StepPhase::search), 40);
    EXPECT_EQ(of(divided, StepPhase::idle), 10);
    EXPECT_EQ(divided.queued, (Queued{.copies = 1, .bytes = 64, .launches = 2}));
  }
  EXPECT_STREQ(tracer.method(), "cuda_event") << "and no profiler's record";
}

TEST(MarkTracer, RefusesAPieceWithoutAnEnd) {
  auto marks = std::make_unique<FakeMarks>(std::vector<std::int64_t>{0});
  void* const queue = marks.get();
  MarkTracer tracer{std::move(marks)};
  tracer.begin();
  tracer.begin_piece(queue, kernel("step_of", 0, 0));
  EXPECT_THROW((void)tracer.end(), std::runtime_error);
}

TEST(MarkTracer, WithoutATracerLeavesTheWorkUnchanged) {
  int worked = 0;
  queue_piece(nullptr, nullptr, {}, [&] { ++worked; });
  EXPECT_EQ(worked, 1);
}

TEST(HostPhase, MarksWhatTheHostDoesWhileItLives) {
  Tracer tracer;
  { const HostPhase unasked{&tracer, StepPhase::move}; }
  tracer.begin();
  {
    const HostPhase searching{&tracer, StepPhase::search};
    const HostPhase building{&tracer, StepPhase::build};
  }
  const auto marks = tracer.end();
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].host, StepPhase::build);
  EXPECT_LE(marks[1].begin, marks[0].begin);
  EXPECT_GE(marks[1].end, marks[0].end);
  EXPECT_THAT(tracer.end(), IsEmpty());
  const HostPhase nobody_asks{nullptr, StepPhase::search};
}

}  // namespace
}  // namespace strata
