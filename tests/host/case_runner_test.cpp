#include "harness/run/case_runner.hpp"

#include "fakes.hpp"
#include "harness/base/error.hpp"
#include "harness/case/benchmark.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace strata {
namespace {

/// A source that counts 32 sectors in everything.
class FakeCounters final : public CounterSource {
 public:
  [[nodiscard]] const CounterPlan& plan() const override { return plan_; }
  void attach() override {}
  [[nodiscard]] std::optional<std::vector<Counts>> count(
      std::span<const CountedRange> ranges) override {
    for (const auto& range : ranges)
      range.work();
    return std::vector<Counts>(ranges.size(), Counts{{"sectors", 32}});
  }

 private:
  CounterPlan plan_;
};

Benchmark declare() {
  return {.suite = "micro",
          .name = "runner_probe",
          .question = "Does the runner keep what a benchmark does?",
          .axes = {{.name = "does",
                    .meaning = "what happens",
                    .choices = {"fine", "noisy", "skip", "throw", "nan", "nothing", "times",
                                "checks", "digit", "places"},
                    .defaults = {"fine"}}},
          .quantities = {{"time", "made up"}}};
}

void count(Session& session) {
  const auto& does = session.param("does");
  if (does == "skip") throw Skipped{"nothing to count"};
  if (does == "throw") throw std::runtime_error{"the profiler broke"};
  if (does == "nothing") return;
  session.add(Gate{"level", Verdict::passed, "100 %"});
  if (does == "checks") return;
  const CountedRange range{.name = "reads", .prepare = {}, .work = [] {}};
  session.add(
      Measurement{.quantity = "sectors",
                  .unit = "sector",
                  .provenance = does == "times" ? Provenance::timed : Provenance::counted,
                  .method = "fake",
                  .samples = {session.counters()->count({&range, 1}).value().at(0).at("sectors")}});
}

void body(Session& session) {
  if (session.counters() != nullptr) {
    count(session);
    return;
  }
  session.add(Gate{"level", Verdict::unverified, session.counting_note()});
  const auto& does = session.param("does");
  Measurement m{.quantity = "time", .unit = "s", .method = "made_up", .samples = {}};
  m.samples.assign(7, 1.0);
  if (does == "digit") m.method = "20_flop";
  if (does == "noisy" || does == "places") m.samples = {1, 2, 1, 2, 1, 2, 1};
  if (does == "nan") m.samples[3] = std::numeric_limits<double>::quiet_NaN();
  if (does == "nothing") return;
  if (does == "places") return session.add_unrepeated(std::move(m), "a sample is an SM");
  session.add(std::move(m));
  if (does == "skip") throw Skipped{"not here"};
  if (does == "throw") throw std::runtime_error{"it broke"};
}

STRATA_BENCHMARK(declare, host, body);

CaseRecord record_of(const std::string& does, FakeDevice& device, const Counting& counting = {}) {
  Cache cache;
  const Plan plan{};
  return run_case({.suite = "micro",
                   .benchmark = "runner_probe",
                   .backend = Backend::host,
                   .params = {{"does", does}}},
                  plan, device, cache, counting);
}

CaseRecord counts_of(const std::string& does) {
  FakeDevice device{Backend::host};
  FakeCounters counters;
  return record_of(does, device, {.source = &counters, .note = {}});
}

TEST(RunCase, KeepsMeasurementsAndFillsInTheNoiseGate) {
  FakeDevice device{Backend::host};
  const auto record = record_of("fine", device);
  EXPECT_EQ(record.status, Status::measured);
  ASSERT_EQ(record.measurements.size(), 1U);
  EXPECT_EQ(record.measurements[0].noise.verdict, Verdict::passed);
  EXPECT_TRUE(record.is_valid(record.measurements[0]));
}

TEST(RunCase, MarksNoisyRowsInvalidButKeepsThem) {
  FakeDevice device{Backend::host};
  const auto record = record_of("noisy", device);
  ASSERT_EQ(record.measurements.size(), 1U);
  EXPECT_FALSE(record.is_valid(record.measurements[0]));
  EXPECT_NE(record.reasons(record.measurements[0]).find("noise"), std::string::npos);
}

TEST(RunCase, AsksNoNoiseOfSamplesThatAreNoRepetitions) {
  FakeDevice device{Backend::host};
  const auto record = record_of("places", device);
  ASSERT_EQ(record.measurements.size(), 1U);
  EXPECT_TRUE(record.is_valid(record.measurements[0]));
  EXPECT_EQ(record.measurements[0].noise.verdict, Verdict::not_applicable);
  EXPECT_EQ(record.measurements[0].noise.detail, "a sample is an SM");
}

TEST(RunCase, RecordsASkipWithItsReasonAndNoRows) {
  FakeDevice device{Backend::host};
  const auto record = record_of("skip", device);
  EXPECT_EQ(record.status, Status::skipped);
  EXPECT_EQ(record.reason, "not here");
  EXPECT_TRUE(record.measurements.empty());
}

TEST(RunCase, RecordsAFailureWithItsReasonAndNoRows) {
  FakeDevice device{Backend::host};
  const auto record = record_of("throw", device);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "it broke");
  EXPECT_TRUE(record.measurements.empty());
}

TEST(RunCase, RefusesSamplesThatAreNoNumbersAndBenchmarksThatSayNothing) {
  FakeDevice device{Backend::host};
  EXPECT_EQ(record_of("nan", device).status, Status::failed);
  EXPECT_EQ(record_of("nothing", device).status, Status::failed);
}

TEST(RunCase, RefusesNamesThatNoReaderTakes) {
  FakeDevice device{Backend::host};
  const auto record = record_of("digit", device);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason,
            "'20_flop' names a quantity or a method: a letter, then letters, digits, _ and .");
}

TEST(RunCase, TellsATimedCaseWhyItHasNoCounts) {
  FakeDevice device{Backend::host};
  const auto record = record_of("fine", device, {.source = nullptr, .note = "not counted yet"});
  EXPECT_EQ(record.phase, Phase::timing);
  ASSERT_EQ(record.gates.size(), 1U);
  EXPECT_EQ(record.gates[0].detail, "not counted yet");
}

TEST(RunCase, CountsWhereItIsGivenASourceAndAsksNoNoiseOfCounts) {
  const auto record = counts_of("fine");
  EXPECT_EQ(record.phase, Phase::counting);
  EXPECT_EQ(record.status, Status::measured);
  ASSERT_EQ(record.measurements.size(), 1U);
  EXPECT_EQ(record.measurements[0].samples, std::vector<double>{32});
  EXPECT_EQ(record.measurements[0].noise.verdict, Verdict::not_applicable);
}

TEST(RunCase, TakesAGateAloneForACount) {
  EXPECT_EQ(counts_of("checks").status, Status::measured);
  EXPECT_EQ(counts_of("nothing").status, Status::failed);
}

TEST(RunCase, RefusesTimesThatWereTakenUnderTheProfiler) {
  const auto record = counts_of("times");
  EXPECT_EQ(record.phase, Phase::counting);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "the benchmark timed sectors while it was counted");
  EXPECT_TRUE(record.measurements.empty());
  EXPECT_TRUE(record.gates.empty());
}

TEST(RunCase, RecordsHowCountingWasSkippedOrFailed) {
  const auto skipped = counts_of("skip");
  EXPECT_EQ(skipped.phase, Phase::counting);
  EXPECT_EQ(skipped.status, Status::skipped);
  EXPECT_EQ(skipped.reason, "nothing to count");
  const auto failed = counts_of("throw");
  EXPECT_EQ(failed.phase, Phase::counting);
  EXPECT_EQ(failed.status, Status::failed);
  EXPECT_EQ(failed.reason, "the profiler broke");
}

TEST(RunCase, EndsTheRangeOfEveryCaseWhateverHappenedInIt) {
  FakeDevice device{Backend::host};
  (void)record_of("throw", device);
  EXPECT_EQ(device.calls, "begin micro/runner_probe/host/does=throw;end;");
}

TEST(RunCase, SkipsWhatThisBuildOrDeviceDoesNotHave) {
  FakeDevice device{Backend::host};
  Cache cache;
  const Plan plan{};
  const Case on_gpu{
      .suite = "micro", .benchmark = "runner_probe", .backend = Backend::cuda, .params = {}};
  EXPECT_EQ(run_case(on_gpu, plan, device, cache).status, Status::skipped);
}

TEST(Cache, MakesAnObjectOnceForAKeyAndDropsItForAnother) {
  Cache cache;
  int made = 0;
  const auto make = [&] { return ++made; };
  EXPECT_EQ(cache.keep<int>("a", make), 1);
  EXPECT_EQ(cache.keep<int>("a", make), 1);
  EXPECT_EQ(cache.keep<int>("b", make), 2);
  EXPECT_EQ(cache.keep<int>("a", make), 3);
}

TEST(Cache, SharesOneObjectOfATypeWhateverIsKept) {
  Cache cache;
  cache.shared<int>() = 5;
  (void)cache.keep<int>("a", [] { return 1; });
  EXPECT_EQ(cache.shared<int>(), 5);
}

}  // namespace
}  // namespace strata
