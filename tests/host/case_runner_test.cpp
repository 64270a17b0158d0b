#include "harness/runner/case_runner.hpp"

#include "harness/core/benchmark.hpp"
#include "harness/core/error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace strata {
namespace {

/// A device that writes down what is asked of it.
class FakeDevice final : public Device {
 public:
  [[nodiscard]] Backend backend() const override { return Backend::host; }
  [[nodiscard]] const DeviceIdentity& identity() const override { return identity_; }
  [[nodiscard]] Facts conditions() override { return {}; }
  [[nodiscard]] Facts timer_facts() override { return {}; }
  void settle() override {}
  void begin_case(const std::string& id) override { calls += "begin " + id + ";"; }
  void end_case() override { calls += "end;"; }
  [[nodiscard]] std::string poisoned() override { return {}; }

  std::string calls;

 private:
  DeviceIdentity identity_;
};

Benchmark declare() {
  return {.suite = "micro",
          .name = "runner_probe",
          .question = "Does the runner keep what a benchmark does?",
          .axes = {{.name = "does",
                    .meaning = "what happens",
                    .choices = {"fine", "noisy", "skip", "throw", "nan", "nothing"},
                    .defaults = {"fine"}}},
          .quantities = {{"time", "made up"}}};
}

void body(Session& session) {
  const auto& does = session.param("does");
  Measurement m{.quantity = "time", .unit = "s", .method = "made_up", .samples = {}};
  m.samples.assign(7, 1.0);
  if (does == "noisy") m.samples = {1, 2, 1, 2, 1, 2, 1};
  if (does == "nan") m.samples[3] = std::numeric_limits<double>::quiet_NaN();
  if (does == "nothing") return;
  session.add(std::move(m));
  if (does == "skip") throw Skipped{"not here"};
  if (does == "throw") throw std::runtime_error{"it broke"};
}

STRATA_BENCHMARK(declare, host, body);

CaseRecord record_of(const std::string& does, FakeDevice& device) {
  Cache cache;
  const Plan plan{};
  return run_case({.suite = "micro",
                   .benchmark = "runner_probe",
                   .backend = Backend::host,
                   .params = {{"does", does}}},
                  plan, device, cache);
}

TEST(RunCase, KeepsMeasurementsAndFillsInTheNoiseGate) {
  FakeDevice device;
  const auto record = record_of("fine", device);
  EXPECT_EQ(record.status, Status::measured);
  ASSERT_EQ(record.measurements.size(), 1U);
  EXPECT_EQ(record.measurements[0].noise.verdict, Verdict::passed);
  EXPECT_TRUE(record.is_valid(record.measurements[0]));
}

TEST(RunCase, MarksNoisyRowsInvalidButKeepsThem) {
  FakeDevice device;
  const auto record = record_of("noisy", device);
  ASSERT_EQ(record.measurements.size(), 1U);
  EXPECT_FALSE(record.is_valid(record.measurements[0]));
  EXPECT_NE(record.reasons(record.measurements[0]).find("noise"), std::string::npos);
}

TEST(RunCase, RecordsASkipWithItsReasonAndNoRows) {
  FakeDevice device;
  const auto record = record_of("skip", device);
  EXPECT_EQ(record.status, Status::skipped);
  EXPECT_EQ(record.reason, "not here");
  EXPECT_TRUE(record.measurements.empty());
}

TEST(RunCase, RecordsAFailureWithItsReasonAndNoRows) {
  FakeDevice device;
  const auto record = record_of("throw", device);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "it broke");
  EXPECT_TRUE(record.measurements.empty());
}

TEST(RunCase, RefusesSamplesThatAreNoNumbersAndBenchmarksThatSayNothing) {
  FakeDevice device;
  EXPECT_EQ(record_of("nan", device).status, Status::failed);
  EXPECT_EQ(record_of("nothing", device).status, Status::failed);
}

TEST(RunCase, EndsTheRangeOfEveryCaseWhateverHappenedInIt) {
  FakeDevice device;
  (void)record_of("throw", device);
  EXPECT_EQ(device.calls, "begin micro/runner_probe/host/does=throw;end;");
}

TEST(RunCase, SkipsWhatThisBuildOrDeviceDoesNotHave) {
  FakeDevice device;
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
