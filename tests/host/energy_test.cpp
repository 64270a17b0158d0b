#include "micro/energy/energy.cu"

#include "example_gpu.hpp"
#include "harness/cpu/rapl.hpp"
#include "message_of.hpp"
#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace strata::energy {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A device that draws `watts`: read each 10 ms, its counter moves each 100 ms.
std::vector<TimedReading> readings_of(double seconds, double watts, double reported) {
  std::vector<TimedReading> all;
  for (int i = 0; i * 0.01 < seconds; ++i) {
    const double joules = 500 + watts * 0.1 * static_cast<double>(i / 10);
    all.push_back({.seconds = i * 0.01,
                   .reading = {.sm_hertz = 1.98e9,
                               .watts = reported,
                               .reasons = 0,
                               .joules = joules,
                               .celsius = i < 150 ? 40 : 42}});
  }
  return all;
}

// --- power

TEST(EnergyPower, IsThatOfWholeStepsOfTheCounter) {
  const Power power = power_between(readings_of(3, 400, 404), 1.03, 2.58);
  EXPECT_DOUBLE_EQ(power.begin, 1.1);
  EXPECT_DOUBLE_EQ(power.end, 2.5);
  EXPECT_NEAR(power.mean, 400, 1e-9);
  EXPECT_NEAR(power.step, 0.1, 1e-12);
  EXPECT_THAT(power.watts, SizeIs(7));  // of two steps each
  EXPECT_THAT(power.watts, Each(testing::DoubleNear(400, 1e-9)));
  EXPECT_NEAR(power.integral.value(), 404, 1e-9);
  EXPECT_EQ(power.hertz, 1.98e9);
  EXPECT_EQ(power.change_celsius, 2);
  EXPECT_EQ(power.readings, 141U);
  EXPECT_EQ(power.throttled, 0U);
}

TEST(EnergyPower, FollowsAChangeBetweenSteps) {
  auto readings = readings_of(3, 400, 404);
  for (TimedReading& one : readings)
    one.reading.watts = one.seconds;  // integrates to its middle
  EXPECT_NEAR(power_between(readings, 1, 2).integral.value(), 1.5, 1e-9);
  readings[120].reading.watts.reset();
  EXPECT_EQ(power_between(readings, 1, 2).integral, std::nullopt);
}

TEST(EnergyPower, CountsThrottledReadingsOfTheWindowOnly) {
  auto readings = readings_of(3, 400, 400);
  readings[50].reading.reasons = 0x8;   // before
  readings[150].reading.reasons = 0x4;  // within
  readings[151].reading.reasons = 0x1;  // idle is no throttling
  const Power power = power_between(readings, 1, 2);
  EXPECT_EQ(power.throttled, 1U);
  EXPECT_EQ(power.reasons, 0x5U);
}

TEST(EnergyPower, LeavesOutStepsWhoseTimeIsUnknown) {
  auto readings = readings_of(3, 400, 400);
  // Calls took 60 ms, and the counter moved meanwhile: its step at 1.6 s seems to be early.
  readings.erase(readings.begin() + 155, readings.begin() + 160);
  readings[155].seconds = 1.55;
  const Power power = power_between(readings, 1, 2.5);
  EXPECT_NEAR(power.mean, 400, 1e-9);
  EXPECT_THAT(power.watts, Each(testing::DoubleNear(400, 1e-9)));
}

TEST(EnergyPower, NeedsTwoStepsOfTheCounter) {
  const auto readings = readings_of(3, 400, 400);
  EXPECT_THAT(message_of<std::runtime_error>([&] { (void)power_between(readings, 1.01, 1.15); }),
              HasSubstr("moved 1 times"));
  EXPECT_THAT(message_of<std::runtime_error>([&] { (void)power_between({}, 0, 1); }),
              HasSubstr("moved 0 times"));
}

// --- rates

TEST(EnergyRate, IsThatOfTheWindow) {
  // 10 repetitions in each 0.4 s, then twice as fast.
  std::vector<Progress> progress{{0, 0}};
  for (int i = 1; i <= 10; ++i)
    progress.push_back({0.4 * i, 10.0 * i});
  const Power power = power_between(readings_of(3, 400, 400), 1, 2);  // 1.0 to 2.0
  const Observed seen = observed(0.5, power, progress, [](double s) { return 100 / s; });
  EXPECT_NEAR(seen.rate, 2500, 1e-6);
  EXPECT_THAT(seen.rates,
              ElementsAre(testing::DoubleNear(2500, 1e-6), testing::DoubleNear(2500, 1e-6)));
  EXPECT_EQ(seen.share, 0.5);
}

TEST(EnergyRate, NeedsWorkDuringAllOfTheWindow) {
  const Power power = power_between(readings_of(3, 400, 400), 1, 2);
  const std::vector<Progress> ends_early{{0, 0}, {1.5, 10}};
  const auto rate = [](double) { return 1.0; };
  EXPECT_THAT(message_of<std::runtime_error>([&] { (void)observed(1, power, ends_early, rate); }),
              HasSubstr("nothing was repeated"));
  const std::vector<Progress> rests{{0, 0}, {0.5, 10}, {3, 10}};
  EXPECT_THAT(message_of<std::runtime_error>([&] { (void)observed(1, power, rests, rate); }),
              HasSubstr("nothing was repeated"));
}

TEST(EnergySlope, IsTheMarginalPrice) {
  const std::vector<std::pair<double, double>> points{{1e12, 220}, {2e12, 320}, {4e12, 520}};
  const auto line = line_through(points);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 100e-12, 1e-22);
  EXPECT_NEAR(line->start, 120, 1e-9);
  EXPECT_FALSE(line_through(std::span{points}.first(2))) << "two rates show no line";
  const std::vector<std::pair<double, double>> same{{1, 2}, {1, 3}, {1, 4}};
  EXPECT_FALSE(line_through(same));
}

TEST(EnergySchedule, FillsTheSecondsOfTheCase) {
  for (const double seconds : {3.0, 8.0}) {
    const Schedule all = schedule_of(seconds, true);
    EXPECT_NEAR(all.warm + all.window + 3 * (all.settle + all.part), seconds, 1e-9);
    EXPECT_GT(all.part, 0.25) << "two steps of the counter";
    const Schedule whole = schedule_of(seconds, false);
    EXPECT_NEAR(whole.warm + whole.window, seconds, 1e-9);
  }
}

// --- reports

Observed part_of(double share, double rate, double watts) {
  return {.share = share,
          .power = {.begin = 1,
                    .end = 3,
                    .watts = {watts, watts},
                    .mean = watts,
                    .integral = 1.01 * watts,
                    .step = 0.1,
                    .change_celsius = 1,
                    .readings = 100},
          .rate = rate,
          .rates = {rate},
          .busy = 0.99};
}

const Measurement& row_of(const CaseRecord& record, const std::string& quantity,
                          const std::string& method) {
  for (const Measurement& m : record.measurements) {
    if (m.quantity == quantity && m.method == method) return m;
  }
  throw std::out_of_range{"no row " + quantity + " by " + method};
}

TEST(EnergyReport, HasGrossAndMarginalPrices) {
  FakeSession fake;
  const std::vector<Observed> all{part_of(1, 4e12, 520), part_of(0.75, 3e12, 420),
                                  part_of(0.5, 2e12, 320), part_of(0.25, 1e12, 220)};
  report(fake.session, work_named("dram_read"), all, "nvml_energy");
  const CaseRecord& record = fake.record;
  EXPECT_THAT(row_of(record, "energy", "nvml_energy").samples, ElementsAre(130e-12, 130e-12));
  EXPECT_EQ(row_of(record, "energy", "nvml_energy").unit, "J/B");
  EXPECT_EQ(row_of(record, "rate", "wall").unit, "B/s");
  EXPECT_EQ(row_of(record, "power", "power_integral").samples.front(), 1.01 * 520);
  EXPECT_EQ(row_of(record, "power_25", "nvml_energy").samples.front(), 220);
  EXPECT_EQ(row_of(record, "rate_75", "wall").samples.front(), 3e12);
  EXPECT_NEAR(row_of(record, "marginal_energy", "slope").samples.front(), 100e-12, 1e-20);
  EXPECT_NEAR(row_of(record, "power_at_no_rate", "slope").samples.front(), 120, 1e-9);
  EXPECT_EQ(fake.verdict("energy_integral"), Verdict::passed);
  EXPECT_EQ(fake.verdict("temperature"), Verdict::passed);
  std::set<std::string> declared;
  for (const Quantity& quantity : declare().quantities)
    declared.insert(quantity.name);
  for (const Measurement& m : record.measurements)
    EXPECT_TRUE(declared.contains(m.quantity)) << m.quantity;
}

TEST(EnergyReport, LeavesThrottledWindowsOut) {
  FakeSession fake;
  std::vector<Observed> all{part_of(1, 4e12, 700), part_of(0.75, 3e12, 420),
                            part_of(0.5, 2e12, 320), part_of(0.25, 1e12, 220)};
  all[0].power.throttled = 30;
  report(fake.session, work_named("wgmma_fp16"), all, "nvml_energy");
  for (const char* const quantity : {"power", "energy"}) {
    const Measurement& row = row_of(fake.record, quantity, "nvml_energy");
    EXPECT_FALSE(fake.record.is_valid(row)) << quantity;
    EXPECT_THAT(fake.record.reasons(row), HasSubstr("throttled in 30 of 100"));
  }
  EXPECT_FALSE(fake.record.is_valid(row_of(fake.record, "rate", "wall")));
  EXPECT_TRUE(fake.record.is_valid(row_of(fake.record, "power_75", "nvml_energy")));
  EXPECT_NEAR(row_of(fake.record, "marginal_energy", "slope").samples.front(), 100e-12, 1e-20)
      << "by the others";
}

TEST(EnergyReport, LeavesWindowsOutWhoseMetersDisagree) {
  FakeSession fake;
  std::vector<Observed> all{part_of(1, 4e12, 520), part_of(0.75, 3e12, 420),
                            part_of(0.5, 2e12, 900), part_of(0.25, 1e12, 220)};
  all[2].power.integral = 320;
  report(fake.session, work_named("dram_read"), all, "nvml_energy");
  EXPECT_FALSE(fake.record.is_valid(row_of(fake.record, "power_50", "nvml_energy")));
  EXPECT_TRUE(fake.record.is_valid(row_of(fake.record, "power", "nvml_energy")));
  EXPECT_NEAR(row_of(fake.record, "marginal_energy", "slope").samples.front(), 100e-12, 1e-20);
}

TEST(EnergyReport, FailsWhereTheMetersDisagreeInEachWindow) {
  for (const double integral : {320.0, 900.0}) {
    FakeSession fake;
    std::vector<Observed> all{part_of(1, 4e12, 900), part_of(0.5, 2e12, 900)};
    all[0].power.integral = 320;
    all[1].power.integral = integral;
    report(fake.session, work_named("dram_read"), all, "nvml_energy");
    EXPECT_EQ(fake.verdict("energy_integral"), integral == 900 ? Verdict::passed : Verdict::failed);
  }
}

TEST(EnergyReport, HasJoulesOfAStepOfARung) {
  FakeSession fake;
  const std::vector<Observed> all{part_of(1, 1e12, 500)};
  report(fake.session, work_named("rung_naive"), all, "nvml_energy");
  EXPECT_EQ(row_of(fake.record, "energy", "nvml_energy").unit, "J/interaction");
  EXPECT_NEAR(row_of(fake.record, "step_energy", "nvml_energy").samples.front(),
              524288.0 * 524288.0 * 500e-12, 1e-9);
}

TEST(EnergyReport, HasOnlyPowerAtRest) {
  FakeSession fake;
  const std::vector<Observed> all{part_of(1, 0, 75)};
  report(fake.session, work_named("context"), all, "nvml_energy");
  for (const Measurement& m : fake.record.measurements)
    EXPECT_EQ(m.quantity, "power");
}

// --- works

TEST(EnergyWorks, AreCasesOfOtherBenchmarks) {
  std::set<std::string> names;
  for (const Work& work : works()) {
    SCOPED_TRACE(work.name);
    EXPECT_TRUE(names.insert(work.name).second);
    EXPECT_EQ(work.quantity.empty(), work.name == "idle" || work.name == "context");
    if (work.benchmark.empty()) continue;
    const Enrolled* const other = find_benchmark(work.benchmark);
    ASSERT_NE(other, nullptr);
    EXPECT_TRUE(std::ranges::any_of(other->benchmark.quantities, [&](const Quantity& quantity) {
      return quantity.name == work.quantity;
    }));
    const Params params = params_of(work, "random", Backend::cuda);
    for (const auto& [axis, value] : params) {
      if (work.name == "l3_read") continue;
      const Axis* const declared = other->benchmark.axis(axis);
      ASSERT_NE(declared, nullptr) << axis;
      EXPECT_EQ(declared->canonical(value), value) << axis;
    }
    EXPECT_EQ(params.size(), other->benchmark.axes.size());
    if (work.name == "l3_read" || work.name.starts_with("rung_")) continue;
    EXPECT_EQ(
        other->benchmark.excludes ? other->benchmark.excludes(params, Backend::cuda) : std::nullopt,
        std::nullopt);
    const Experiment experiment =
        describe({{"work", work.name}, {"data", "random"}, {"seconds", "8"}}, example_gpu());
    const auto row = std::ranges::find_if(experiment.rows, [&](const Row& one) {
      return one.quantity == work.quantity && one.unit.ends_with("/s");
    });
    ASSERT_NE(row, experiment.rows.end());
    if (work.unit != "operation") {
      EXPECT_EQ(row->unit, work.unit + "/s");
    }
  }
}

TEST(EnergyWorks, ReadZerosWhereTheirDataAreChosen) {
  const auto excluded = [](const char* work, Backend backend, const char* data = "random") {
    return excludes({{"work", work}, {"data", data}, {"seconds", "8"}}, backend).has_value();
  };
  EXPECT_FALSE(excluded("dram_read", Backend::cuda, "zeros"));
  EXPECT_FALSE(excluded("wgmma_fp16", Backend::cuda, "zeros"));
  EXPECT_TRUE(excluded("dram_write", Backend::cuda, "zeros"));
  EXPECT_TRUE(excluded("fp32", Backend::cuda, "zeros"));
  EXPECT_TRUE(excluded("wgmma_fp16", Backend::host));
  EXPECT_FALSE(excluded("fp64", Backend::host));
  EXPECT_TRUE(excluded("l3_read", Backend::cuda));
}

// --- a case

/// A meter whose counter moves at each reading by 300 W.
struct FakeMeter {
  int reads = 0;
  [[nodiscard]] Meter meter() {
    return {.name = "fake",
            .read =
                [this] {
                  ++reads;
                  return NvmlReading{.watts = 300, .joules = 1.0 * reads};
                },
            .pause = std::chrono::milliseconds{1}};
  }
};

TEST(EnergyCase, IsNotCounted) {
  FakeMeter meter;
  FakeSession fake;
  fake.record.which = {.suite = "micro",
                       .benchmark = "energy",
                       .backend = Backend::cuda,
                       .params = {{"work", "context"}, {"data", "random"}, {"seconds", "3"}}};
  fake.counting.source = reinterpret_cast<CounterSource*>(&meter);  // never used
  EXPECT_THROW(measure_energy(fake.session, meter.meter(), nullptr), Skipped);
}

TEST(EnergyCase, NeedsAnEnergyCounter) {
  FakeSession fake;
  fake.record.which = {.suite = "micro",
                       .benchmark = "energy",
                       .backend = Backend::cuda,
                       .params = {{"work", "context"}, {"data", "random"}, {"seconds", "3"}}};
  const Meter blind{.name = "none", .read = [] { return NvmlReading{.watts = 300}; }};
  EXPECT_THAT(message_of<Skipped>([&] { measure_energy(fake.session, blind, nullptr); }),
              HasSubstr("does not report its energy"));
}

TEST(EnergyCase, WatchesTurnsUntilTheWindowEnds) {
  FakeMeter meter;
  int turns = 0;
  const Repeated repeated{.turn =
                              [&] {
                                ++turns;
                                std::this_thread::sleep_for(std::chrono::milliseconds{2});
                                return 1e-3;
                              },
                          .repetitions = 5,
                          .rate = [](const std::string&, double seconds) { return 1 / seconds; }};
  const Observed seen = watch_work(repeated, "bandwidth", 0.5, meter.meter(), 0.02, 0.05);
  EXPECT_GT(turns, 5);
  EXPECT_GE(seen.power.begin, 0.02);
  EXPECT_GT(seen.rate, 0);
  EXPECT_LE(seen.rate, 2500);  // five in 2 ms, or slower
  EXPECT_GT(seen.busy, 0);
  EXPECT_LE(seen.busy, 0.5);
}

// --- RAPL

class RaplFiles : public testing::Test {
 protected:
  void SetUp() override {
    root = fs::path{testing::TempDir()} / "strata_rapl";
    fs::remove_all(root);
  }
  void TearDown() override { fs::remove_all(root); }
  void write(const std::string& domain, const std::string& file, const std::string& text) const {
    const fs::path folder = root / "sys/class/powercap" / domain;
    fs::create_directories(folder);
    std::ofstream{folder / file} << text << '\n';
  }
  fs::path root;
};

TEST_F(RaplFiles, AddPackagesAndSurviveTheEndOfTheirRange) {
  for (const char* const package : {"intel-rapl:0", "intel-rapl:1"}) {
    write(package, "energy_uj", "900000");
    write(package, "max_energy_range_uj", "1000000");
  }
  write("intel-rapl:0:0", "energy_uj", "5");  // a part of a package
  Rapl rapl{root};
  ASSERT_EQ(rapl.absence(), "");
  EXPECT_EQ(rapl.joules(), 0);
  write("intel-rapl:0", "energy_uj", "950000");
  EXPECT_NEAR(rapl.joules(), 0.05, 1e-12);
  write("intel-rapl:1", "energy_uj", "100000");  // 0.1 J to the end, and 0.1 J more
  EXPECT_NEAR(rapl.joules(), 0.25, 1e-12);
}

TEST_F(RaplFiles, ExplainTheirAbsence) {
  EXPECT_THAT(Rapl{root}.absence(), HasSubstr("has no package"));
  write("intel-rapl:0", "max_energy_range_uj", "1000000");
  EXPECT_THAT(Rapl{root}.absence(), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace strata::energy
