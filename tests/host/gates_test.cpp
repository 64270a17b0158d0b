#include "harness/record/gates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {
namespace {

using Samples = std::vector<double>;

TEST(ResultGate, PassesOnlyWhenSomethingWasCheckedAndNothingDiffers) {
  EXPECT_EQ(result_gate(10, 0, "sums").verdict, Verdict::passed);
  EXPECT_EQ(result_gate(10, 1, "sums").verdict, Verdict::failed);
  EXPECT_EQ(result_gate(0, 0, "sums").verdict, Verdict::failed);
}

TEST(AccuracyGate, WantsNumbersWithinBothBounds) {
  const auto verdict = [](double rms, double largest, bool finite) {
    return accuracy_gate({.what = "pulls",
                          .rms = rms,
                          .rms_bound = 2,
                          .largest = largest,
                          .largest_bound = 8,
                          .finite = finite})
        .verdict;
  };
  EXPECT_EQ(verdict(2, 8, true), Verdict::passed);
  EXPECT_EQ(verdict(2.1, 8, true), Verdict::failed);
  EXPECT_EQ(verdict(2, 8.1, true), Verdict::failed);
  EXPECT_EQ(verdict(std::nan(""), 8, true), Verdict::failed);
  EXPECT_EQ(verdict(2, 8, false), Verdict::failed);
}

TEST(TimerGate, PassesUpToTwoPercentEitherWay) {
  const Samples base{100, 100, 100};
  EXPECT_EQ(timer_gate(Samples{101.9}, "a", base, "b").verdict, Verdict::passed);
  EXPECT_EQ(timer_gate(Samples{98.1}, "a", base, "b").verdict, Verdict::passed);
  EXPECT_EQ(timer_gate(Samples{102.1}, "a", base, "b").verdict, Verdict::failed);
  EXPECT_EQ(timer_gate(Samples{97.9}, "a", base, "b").verdict, Verdict::failed);
}

TEST(TimerGate, ComparesMediansSoThatOneStrayDoesNotDecide) {
  EXPECT_EQ(timer_gate(Samples{100, 100, 900}, "a", Samples{100, 100, 1}, "b").verdict,
            Verdict::passed);
}

TEST(TimerGate, IsUnverifiedWithoutASecondMethodAndFailsOnNonsense) {
  EXPECT_EQ(timer_gate(Samples{1}, "a", Samples{}, "b").verdict, Verdict::unverified);
  EXPECT_EQ(timer_gate(Samples{1}, "a", Samples{0}, "b").verdict, Verdict::failed);
}

TEST(OwnCoreGate, WantsAWholeNumberOfAdditions) {
  const auto gate = [](double additions) { return own_core_gate(Samples{1, additions, 9}); };
  for (const double whole : {3.0, 2.971, 3.029, 4.03})
    EXPECT_EQ(gate(whole).verdict, Verdict::passed) << whole;
  for (const double shared : {2.569, 2.96, 3.04})
    EXPECT_EQ(gate(shared).verdict, Verdict::failed) << shared;
  EXPECT_EQ(own_core_gate(Samples{0.2}).verdict, Verdict::failed);
  EXPECT_EQ(gate(2.569).name, "clock");
  EXPECT_NE(gate(2.569).detail.find("another thread shares the core"), std::string::npos);
  EXPECT_EQ(gate(3).detail.find("another thread"), std::string::npos);
}

TEST(PreemptedGate, FailsWhereSamplesRestOnTimeOfOtherProcesses) {
  EXPECT_EQ(preempted_gate(0.1, {}).verdict, Verdict::passed);
  EXPECT_EQ(preempted_gate(0.11, {}).verdict, Verdict::failed) << "unknown how long";
  EXPECT_EQ(preempted_gate(0.1, 0.5).verdict, Verdict::passed);
  EXPECT_EQ(preempted_gate(1, 0.02).verdict, Verdict::passed);
  const Gate gate = preempted_gate(1, 0.021);
  EXPECT_EQ(gate.name, "preempted");
  EXPECT_EQ(gate.verdict, Verdict::failed);
  EXPECT_NE(gate.detail.find("2.1 % of the time"), std::string::npos) << gate.detail;
}

TEST(ClockGate, FailsWhenTheClockMovedByMoreThanTwoPercent) {
  EXPECT_EQ(clock_gate(Samples{1.98e9, 1.98e9, 1.95e9}).verdict, Verdict::passed);
  EXPECT_EQ(clock_gate(Samples{1.98e9, 1.90e9}).verdict, Verdict::failed);
  EXPECT_EQ(clock_gate(Samples{}).verdict, Verdict::unverified);
  EXPECT_EQ(clock_gate(Samples{0.0, 1.0}).verdict, Verdict::failed);
}

TEST(DriverClockGate, SaysWhereTheDriverReportsAnotherClockAndFailsNothing) {
  const Samples held{1.82e9, 1.821e9, 1.9e9};
  const Gate gate = driver_clock_gate(held, 1.98e9);
  EXPECT_EQ(gate.name, "driver_clock");
  EXPECT_EQ(gate.verdict, Verdict::unverified);
  EXPECT_EQ(gate.detail,
            "the kernel's clock 1821.0 MHz, the driver's 1980.0 MHz: -8.03 % (bound 2 %)");
  EXPECT_EQ(driver_clock_gate(held, 1.85e9).verdict, Verdict::passed);
  EXPECT_EQ(driver_clock_gate(held, 1.79e9).verdict, Verdict::passed);
  EXPECT_EQ(driver_clock_gate(held, 1.78e9).verdict, Verdict::unverified);
  EXPECT_EQ(driver_clock_gate(Samples{}, 1.78e9).verdict, Verdict::unverified);
  EXPECT_EQ(driver_clock_gate(Samples{0.0}, 0).verdict, Verdict::unverified);
}

TEST(SpillGate, FailsOnAnyLocalMemory) {
  EXPECT_EQ(spill_gate(0, 32).verdict, Verdict::passed);
  EXPECT_EQ(spill_gate(4, 32).verdict, Verdict::failed);
}

TEST(PlacementGate, FailsWhenOneCoreHadMoreOrLessThanTheOthers) {
  using Cores = std::vector<std::uint32_t>;
  EXPECT_EQ(placement_gate(Cores{0, 1, 2, 2, 0, 1}, 3, 2).verdict, Verdict::passed);
  const Gate uneven = placement_gate(Cores{0, 1, 2, 2, 0, 2}, 3, 2);
  EXPECT_EQ(uneven.verdict, Verdict::failed);
  EXPECT_EQ(uneven.detail, "1 to 3 warps on each of 3 cores (expected 2 on 3)");
  const Gate fewer = placement_gate(Cores{0, 1, 0, 1}, 3, 2);
  EXPECT_EQ(fewer.verdict, Verdict::failed);
  EXPECT_EQ(fewer.detail, "2 to 2 warps on each of 2 cores (expected 2 on 3)");
  EXPECT_EQ(placement_gate(Cores{0, 1, 2}, 3, 2).verdict, Verdict::failed);
  EXPECT_EQ(placement_gate(Cores{0, 0, 1, 1, 2}, 3, 2).verdict, Verdict::failed);
  EXPECT_EQ(placement_gate(Cores{0, 0, 1, 1, 2, 2, 2}, 3, 2).verdict, Verdict::failed);
  EXPECT_EQ(placement_gate(Cores{0, 0, 1, 1, 2, 2, 3, 3}, 3, 2).verdict, Verdict::failed);
  EXPECT_EQ(placement_gate(Cores{}, 3, 2).verdict, Verdict::failed);
}

TEST(ClockGate, TakesTheWholeWayFromTheSlowestToTheFastest) {
  EXPECT_EQ(clock_gate(Samples{1.5e9, 1.529e9}).verdict, Verdict::passed);
  EXPECT_EQ(clock_gate(Samples{1.5e9, 1.545e9}).verdict, Verdict::failed);
}

TEST(LimitGate, AllowsWhatTheClockMovedByAndNoMore) {
  const Samples moved{1.0e9, 1.02e9};
  EXPECT_EQ(limit_gate("rate", Samples{101, 101}, 100, moved).verdict, Verdict::passed);
  EXPECT_EQ(limit_gate("rate", Samples{103, 103}, 100, moved).verdict, Verdict::failed);
}

TEST(LinearGate, FailsOnBothSidesOfTheLine) {
  EXPECT_EQ(linear_gate(Samples{-0.5}, 100).verdict, Verdict::passed);
  EXPECT_EQ(linear_gate(Samples{-2}, 100).verdict, Verdict::failed);
  EXPECT_EQ(linear_gate(Samples{2}, 100).verdict, Verdict::failed);
}

TEST(CheckBounds, HaveNamesOfTheirOwnAndEvidence) {
  std::set<std::string_view> names;
  for (const auto& [name, value, evidence] : check_bounds) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_GT(value, 0) << name;
    EXPECT_FALSE(evidence.empty()) << name;
  }
  for (const char* const name : {"linear", "phases", "brief_phases", "tests"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(NoiseGate, MarksSamplesOfTwoGroups) {
  const auto samples_of = [](int count) {
    Samples samples;
    for (int i = 0; i < count; ++i)
      samples.push_back((i % 5 == 0 ? 2114 : 2351) + i % 3);
    return samples;
  };
  const Gate gate = noise_gate(samples_of(30), 0.01);
  EXPECT_EQ(gate.verdict, Verdict::unverified);
  EXPECT_NE(gate.detail.find("6 near 2115, 24 near 2352"), std::string::npos) << gate.detail;
  // Few samples, groups that hardly differ, few outliers, and a wide single peak are not marked.
  EXPECT_EQ(noise_gate(samples_of(15), 0.01).verdict, Verdict::passed);
  EXPECT_EQ(noise_gate(samples_of(30), 0.06).verdict, Verdict::passed);
  Samples outliers(40, 2351);
  outliers[7] = outliers[9] = 9000;
  EXPECT_EQ(noise_gate(outliers, 0.01).verdict, Verdict::passed);
  Samples wide;
  for (int i = 0; i < 101; ++i)
    wide.push_back(1000 + i);
  EXPECT_EQ(noise_gate(wide, 0.01).verdict, Verdict::passed);
  // A row that is too noisy fails all the same.
  Samples noisy(30, 2114);
  std::ranges::fill(std::span{noisy}.first(15), 2351);
  EXPECT_EQ(noise_gate(noisy, 0.01).verdict, Verdict::failed);
}

TEST(NoiseGate, FailsForWideIntervalsAndForTooFewSamples) {
  EXPECT_EQ(noise_gate(Samples{1, 1.03, 1, 1.03, 1, 1.03}, 0.01).verdict, Verdict::failed);
  EXPECT_EQ(noise_gate(Samples{1, 1.03, 1, 1.03, 1, 1.03}, 0.02).verdict, Verdict::passed);
  EXPECT_EQ(noise_gate(Samples{1, 1, 1, 1, 1, 1}, 0.01).verdict, Verdict::passed);
  EXPECT_EQ(noise_gate(Samples{1, 2, 1, 2, 1, 2}, 0.01).verdict, Verdict::failed);
  EXPECT_EQ(noise_gate(Samples{1, 1, 1}, 0.01).verdict, Verdict::failed);
}

TEST(LevelUnverified, SaysSoInTheRow) {
  const Gate gate = level_unverified("no counters");
  EXPECT_EQ(gate.verdict, Verdict::unverified);
  EXPECT_NE(gate.detail.find("level unverified"), std::string::npos);
}

TEST(RepeatUnverified, LeavesTheRowValidAndSaysWhy) {
  const Gate gate = repeat_unverified();
  EXPECT_EQ(gate.name, "repeat");
  EXPECT_EQ(gate.verdict, Verdict::unverified);
  EXPECT_NE(gate.detail.find("host"), std::string::npos);
}

TEST(LimitGate, FailsForWhatIsBeyondByMoreThanItsIntervalAndTheClocks) {
  const Samples beyond{1.002, 1.003, 1.004, 1.005, 1.006, 1.007};
  EXPECT_EQ(limit_gate("share_of_limit", beyond, 1.003, {}).verdict, Verdict::passed);
  const Gate gate = limit_gate("share_of_limit", beyond, 1, {});
  EXPECT_EQ(gate.verdict, Verdict::failed);
  EXPECT_EQ(gate.name, "limit");
  EXPECT_EQ(gate.detail,
            "share_of_limit 1.0045, its interval from 1.002, of at most 1; the clock moved by "
            "0.00 %");
  EXPECT_EQ(limit_gate("share", beyond, 1, Samples{1.000e9, 1.003e9}).verdict, Verdict::passed);
  EXPECT_EQ(limit_gate("share", Samples{1.1, 0.9}, 1, {}).verdict, Verdict::passed);
  EXPECT_EQ(limit_gate("share", Samples{1.1, 1.2}, 1, {}).verdict, Verdict::failed);
}

TEST(LimitGate, ForgivesWhatTheStepsOfATimerMake) {
  EXPECT_EQ(limit_gate("cycles", Samples{15.9966, 15.9966}, 16, {}, Bound::least).verdict,
            Verdict::passed);
  EXPECT_EQ(limit_gate("cycles", Samples{15.99, 15.99}, 16, {}, Bound::least).verdict,
            Verdict::failed);
  EXPECT_EQ(limit_gate("share", Samples{1.0002, 1.0008}, 1, {}).verdict, Verdict::passed);
  EXPECT_EQ(limit_gate("share", Samples{1.001, 1.002}, 1, {}).verdict, Verdict::failed);
}

TEST(LimitGate, FailsForWhatIsBelowTheLeastThereCanBe) {
  const Samples below{1.993, 1.994, 1.995, 1.996, 1.997, 1.998};
  EXPECT_EQ(limit_gate("cycles", below, 1.998, {}, Bound::least).verdict, Verdict::passed);
  const Gate gate = limit_gate("cycles", below, 2, {}, Bound::least);
  EXPECT_EQ(gate.verdict, Verdict::failed);
  EXPECT_EQ(gate.detail,
            "cycles 1.9955, its interval to 1.998, of at least 2; the clock moved by 0.00 %");
  const Samples moved{1.000e9, 1.003e9};
  EXPECT_EQ(limit_gate("cycles", below, 2, moved, Bound::least).verdict, Verdict::passed);
  EXPECT_EQ(limit_gate("cycles", Samples{9, 9}, 2, {}, Bound::least).verdict, Verdict::passed);
}

TEST(NoneGate, FailsWithOneException) {
  EXPECT_EQ(none_gate("model", 0, 132, "SMs are slow").verdict, Verdict::passed);
  const Gate gate = none_gate("model", 1, 132, "SMs are slow");
  EXPECT_EQ(gate.verdict, Verdict::failed);
  EXPECT_EQ(gate.detail, "1 of 132 SMs are slow");
}

TEST(PredictedGate, HoldsForEveryNumberWithinItsBound) {
  const std::vector<ComparedCount> right{{"tests", 1009, 1000, 0.01}, {"rebuilds", 3, 3}};
  EXPECT_EQ(predicted_gate(right).verdict, Verdict::passed);
  EXPECT_EQ(predicted_gate(right).detail,
            "1009 tests counted, 1000 predicted (bound 1 %); 3 rebuilds counted, 3 predicted");
  for (std::size_t wrong = 0; wrong < right.size(); ++wrong) {
    auto numbers = right;
    numbers[wrong].counted += 2;
    EXPECT_EQ(predicted_gate(numbers).verdict, Verdict::failed) << wrong;
  }
}

TEST(PredictedGate, TakesTheBoundOfASmallNumberAsADifference) {
  const auto share = [](double counted) {
    return std::vector<ComparedCount>{{"used", counted, 0.2, 0.01}};
  };
  EXPECT_EQ(predicted_gate(share(0.209)).verdict, Verdict::passed);
  EXPECT_EQ(predicted_gate(share(0.211)).verdict, Verdict::failed);
}

TEST(OverlapGate, NeedsCopiesThatAreUnderWayTogether) {
  EXPECT_EQ(overlap_gate(std::vector{0.2, 0.91, 0.95}).verdict, Verdict::passed);
  EXPECT_EQ(overlap_gate(std::vector{0.2, 0.89, 0.95}).verdict, Verdict::failed);
}

TEST(DependenceGate, FailsForOneOtherResultAndForNone) {
  EXPECT_EQ(dependence_gate(64, 0, "ends of chains").verdict, Verdict::passed);
  EXPECT_EQ(dependence_gate(64, 1, "ends of chains").verdict, Verdict::failed);
  EXPECT_EQ(dependence_gate(0, 0, "ends of chains").verdict, Verdict::failed);
}

TEST(ConcurrencyGate, FailsWhereTheAccessesOfARoundWaitForEachOther) {
  constexpr double latency = 280;
  for (const double accesses : {2.0, 4.0, 8.0, 16.0}) {
    const double wide = latency + 16 * accesses;  // 16 cycles for each to arrive
    EXPECT_EQ(concurrency_gate(accesses, wide, latency + 16).verdict, Verdict::passed) << accesses;
    EXPECT_EQ(concurrency_gate(accesses, latency * accesses, latency).verdict, Verdict::failed);
  }
}

TEST(LittleGate, IsUnverifiedWhereTheMedianLeavesOutTheWait) {
  EXPECT_EQ(little_gate(960, 20, 48).verdict, Verdict::passed);
  EXPECT_EQ(little_gate(960 * 1.04, 20, 48).verdict, Verdict::passed);
  EXPECT_EQ(little_gate(960 * 1.06, 20, 48).verdict, Verdict::unverified);
  const Gate gate = little_gate(331, 1034. / 48, 48);
  EXPECT_EQ(gate.verdict, Verdict::unverified);
  EXPECT_EQ(gate.name, "little");
  EXPECT_EQ(gate.detail,
            "15.366 in flight by latency and rate, 48 actual (bound 5 %): the median by the warps' "
            "own clocks leaves out the wait of those that are served later");
}

TEST(OccupancyGate, ComparesActiveWarpsWithTheDeclaredOnes) {
  const auto verdict = [](std::optional<double> active) {
    return occupancy_gate(active, 32).verdict;
  };
  for (const double held : {29.0, 32.0, 35.0})
    EXPECT_EQ(verdict(held), Verdict::passed) << held;
  for (const double one_after_another : {18.0, 24.0, 28.7})
    EXPECT_EQ(verdict(one_after_another), Verdict::unverified) << one_after_another;
  for (const double never_together : {8.0, 16.0, 17.5, 36.0})
    EXPECT_EQ(verdict(never_together), Verdict::failed) << never_together;
  EXPECT_EQ(verdict(std::nullopt), Verdict::unverified);
  EXPECT_EQ(occupancy_gate(24, 32).name, "occupancy");
  EXPECT_EQ(occupancy_gate(24, 32).detail,
            "24 warps active on an SM on average, 32 declared (bound 10 %): some warps ended "
            "before others");
}

TEST(LinearGate, HoldsWithinACycle) {
  const std::vector<double> held{0.2, 1.0, -0.7, 0.5};
  EXPECT_EQ(linear_gate(held, 1000).verdict, Verdict::passed);
  const std::vector<double> off{1.2, 1.5, 0.1, 1.4};
  const auto gate = linear_gate(off, 1000);
  EXPECT_EQ(gate.verdict, Verdict::failed);
  EXPECT_EQ(gate.name, "model");
  EXPECT_NE(gate.detail.find("1000, 2000 and 4000 operations"), std::string::npos) << gate.detail;
}

}  // namespace
}  // namespace strata
