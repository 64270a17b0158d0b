#include "harness/model/change_point.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace strata {
namespace {

/// Noise of a given width, the same in every run.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_{seed} {}
  /// Roughly normal: the sum of a dozen evenly spread numbers.
  double operator()(double sigma) {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
      sum += static_cast<double>(random_() >> 11U) * 0x1p-53;
    return sigma * sum;
  }

 private:
  std::mt19937_64 random_;
};

std::vector<ScanPoint> scan_of(std::size_t points, std::size_t repetitions, double sigma,
                               const std::function<double(std::size_t)>& curve,
                               std::uint64_t seed = 1) {
  Noise noise{seed};
  std::vector<ScanPoint> scan;
  for (std::size_t i = 0; i < points; ++i) {
    scan.push_back({.x = static_cast<double>(i) * 128, .samples = {}});
    for (std::size_t r = 0; r < repetitions; ++r)
      scan.back().samples.push_back(curve(i) + noise(sigma));
  }
  return scan;
}

double step_at_14(std::size_t i) {
  return i < 14 ? 32 : 280;
}
/// What random replacement makes of a cache of 14 positions.
double ramp_from_14(std::size_t i) {
  return i < 14 ? 32 : 32 + 4 * static_cast<double>(i - 13);
}

TEST(FindRise, FindsASharpStepExactly) {
  const auto change = find_rise(scan_of(28, 7, 0.5, step_at_14), {.least_shift = 2});
  ASSERT_TRUE(change.is_found()) << describe(change);
  EXPECT_EQ(change.before, 14U);
  EXPECT_EQ(change.low, 14U);
  EXPECT_EQ(change.high, 14U);
  EXPECT_GE(change.confidence, 0.999);
  EXPECT_NEAR(change.level, 32, 0.5);
  EXPECT_EQ(change.against, 0U);
}

TEST(FindRise, FindsAStepWithoutAnyNoise) {
  const auto change = find_rise(scan_of(28, 7, 0, step_at_14), {});
  ASSERT_TRUE(change.is_found()) << describe(change);
  EXPECT_EQ(change.before, 14U);
}

TEST(FindRise, FindsTheBeginningOfARampAndNotItsMiddle) {
  for (const std::size_t begin : {7U, 10U, 14U, 20U}) {
    const auto scan = scan_of(28, 7, 0.1, [&](std::size_t i) {
      return i < begin ? 32.0 : 32.0 + 4.0 * static_cast<double>(i - begin + 1);
    });
    const auto change = find_rise(scan, {.least_shift = 1});
    ASSERT_TRUE(change.is_found()) << describe(change);
    EXPECT_EQ(change.before, begin);
  }
}

TEST(FindRise, SeesTheFirstLineThatDoesNotFit) {
  // One of 1840 loads misses behind the step, two behind the next position, and so on.
  const auto scan = scan_of(28, 7, 0, [](std::size_t i) {
    return 32.0 + (i < 14 ? 0.0 : 250.0 * static_cast<double>(i - 13) / 1840.0);
  });
  const auto change = find_rise(scan, {.least_shift = 0.5 * 250.0 / 1840.0});
  ASSERT_TRUE(change.is_found()) << describe(change);
  EXPECT_EQ(change.before, 14U);
}

TEST(FindRise, FindsTheFirstOfTwoSteps) {
  const auto scan = scan_of(40, 5, 0.5, [](std::size_t i) {
    if (i < 12) return 32.0;
    return i < 26 ? 280.0 : 660.0;
  });
  const auto change = find_rise(scan, {.least_shift = 2});
  ASSERT_TRUE(change.is_found()) << describe(change);
  EXPECT_EQ(change.before, 12U);
}

TEST(FindRise, IgnoresChangesWithinFiveStandardDeviationsOfTheFirstPositions) {
  auto scan = scan_of(28, 7, 0, step_at_14);
  // Deviations from 32 of 0, 1, 1, 2, 2, 3 and 3: their median is 2, of a normal distribution the
  // quartile, which lies 0.6745 standard deviations out.
  for (ScanPoint& point : scan) {
    for (std::size_t r = 0; r < 7; ++r)
      point.samples[r] += std::array{0., 1., -1., 2., -2., 3., -3.}.at(r);
  }
  EXPECT_NEAR(find_rise(scan, {.least_shift = 1}).least_shift, 5 * 2 / 0.6745, 0.01);
}

TEST(FindRise, HasAnIntervalThatExcludesOneDrawInFortyAtEachEnd) {
  // The last position before the step is away in about one draw in thirty.
  auto scan = scan_of(28, 9, 0, step_at_14);
  scan[13].samples[0] = scan[13].samples[1] = 280;
  const auto change = find_rise(scan, {.least_shift = 2});
  EXPECT_EQ(change.before, 14U);
  EXPECT_EQ(change.low, 13U);
  EXPECT_EQ(change.high, 14U);
  scan = scan_of(28, 9, 0, step_at_14);
  scan[14].samples[0] = scan[14].samples[1] = 32;
  const auto later = find_rise(scan, {.least_shift = 2});
  EXPECT_EQ(later.low, 14U);
  EXPECT_EQ(later.high, 15U);
}

TEST(FindRise, TakesTheFirstOfTwoEquallyContradictedSplits) {
  const auto scan = scan_of(28, 7, 0, [](std::size_t i) { return i == 15 ? 32 : step_at_14(i); });
  EXPECT_EQ(find_rise(scan, {.least_shift = 2}).before, 14U);
}

TEST(FindRise, FindsNothingInNoise) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto change = find_rise(scan_of(
                                      28, 7, 1, [](std::size_t) { return 98.0; }, seed),
                                  {});
    found += change.is_found() ? 1 : 0;
  }
  EXPECT_EQ(found, 0);
}

TEST(FindRise, FindsNothingInAConstant) {
  const auto change = find_rise(scan_of(28, 7, 0, [](std::size_t) { return 98.0; }), {});
  EXPECT_EQ(change.outcome, ChangeOutcome::none);
  EXPECT_EQ(change.confidence, 0);
}

TEST(FindRise, FindsNothingInAFall) {
  const auto change = find_rise(
      scan_of(28, 7, 0.5, [](std::size_t i) { return i < 14 ? 280.0 : 32.0; }), {.least_shift = 2});
  EXPECT_EQ(change.outcome, ChangeOutcome::none);
}

TEST(FindRise, FindsNothingWhereEachPositionHasItsOwnLatency) {
  // Hardly any scatter between repetitions and much more between positions: every position differs
  // from the others beyond doubt, and still nothing changes along the scan.
  int found = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Noise own{seed + 1000};
    std::vector<double> offset;
    for (int i = 0; i < 28; ++i)
      offset.push_back(own(1));
    const auto scan = scan_of(
        28, 7, 0.001, [&](std::size_t i) { return 280 + offset[i]; }, seed);
    found += find_rise(scan, {.least_shift = 3}).is_found() ? 1 : 0;
  }
  EXPECT_EQ(found, 0);
}

TEST(FindRise, FindsNothingInADriftBelowTheLeastShift) {
  const auto drift = [](std::size_t i) { return 280 + 0.05 * static_cast<double>(i); };
  EXPECT_EQ(find_rise(scan_of(28, 7, 0.01, drift), {.least_shift = 3}).outcome,
            ChangeOutcome::none);
}

TEST(FindRise, IsNotMovedByOutliers) {
  auto scan = scan_of(28, 7, 0.5, ramp_from_14);
  // A repetition that something disturbed, and two positions that are off in all of them.
  for (auto& point : scan)
    point.samples[2] += 500;
  for (double& sample : scan[7].samples)
    sample = 900;
  for (double& sample : scan[22].samples)
    sample = 32;
  const auto change = find_rise(scan, {.least_shift = 2});
  ASSERT_TRUE(change.is_found()) << describe(change);
  EXPECT_EQ(change.before, 14U);
  EXPECT_EQ(change.against, 2U);
  EXPECT_GE(change.confidence, 0.99);
}

TEST(FindRise, HasAnIntervalAroundAPlaceThatRepetitionsDisagreeOn) {
  auto scan = scan_of(28, 7, 0, step_at_14);
  // Position 14 fits in three repetitions of seven, position 13 does not in two.
  for (int r = 0; r < 3; ++r)
    scan[14].samples[static_cast<std::size_t>(r)] = 32;
  for (int r = 0; r < 2; ++r)
    scan[13].samples[static_cast<std::size_t>(r)] = 280;
  const auto change = find_rise(scan, {.least_shift = 2});
  ASSERT_TRUE(change.is_found());
  EXPECT_EQ(change.before, 14U);
  EXPECT_LT(change.low, change.high);
  EXPECT_GE(change.low, 13U);
  EXPECT_LE(change.high, 15U);
}

TEST(FindRise, SaysWhenTheChangeIsAtAnEnd) {
  const auto early = scan_of(28, 7, 0.1, [](std::size_t i) {
    return 32.0 + (i < 2 ? 0.0 : 4.0 * static_cast<double>(i));
  });
  const auto outcome = find_rise(early, {.baseline = 3, .least_shift = 1}).outcome;
  EXPECT_EQ(outcome, ChangeOutcome::too_early);
  const auto late = scan_of(60, 7, 0, [](std::size_t i) { return i < 58 ? 32.0 : 280.0; });
  EXPECT_FALSE(find_rise(late, {}).is_found());
}

TEST(FindRise, SaysWhenEverySplitIsContradicted) {
  const auto mixed = scan_of(40, 7, 0, [](std::size_t i) {
    if (i < 12) return 32.0;
    return i % 3 == 0 ? 32.0 : 280.0;
  });
  EXPECT_EQ(find_rise(mixed, {.least_shift = 2}).outcome, ChangeOutcome::unclear);
}

TEST(FindRise, NeedsEnoughPositionsToBeSure) {
  const auto three = scan_of(4, 7, 0, [](std::size_t i) { return i < 1 ? 32.0 : 280.0; });
  EXPECT_EQ(find_rise(three, {.baseline = 1}).outcome, ChangeOutcome::none);
}

TEST(FindRise, GivesTheSameAnswerEachTime) {
  const auto scan = scan_of(28, 7, 3, ramp_from_14);
  const auto one = find_rise(scan, {.least_shift = 2});
  const auto other = find_rise(scan, {.least_shift = 2});
  EXPECT_EQ(one.confidence, other.confidence);
  EXPECT_EQ(one.low, other.low);
  EXPECT_EQ(one.high, other.high);
}

TEST(FindRise, RefusesWhatItCannotJudge) {
  EXPECT_THROW((void)find_rise(std::vector<ScanPoint>{}, {}), std::invalid_argument);
  auto scan = scan_of(28, 7, 0, step_at_14);
  EXPECT_THROW((void)find_rise(scan, {.baseline = 0}), std::invalid_argument);
  EXPECT_THROW((void)find_rise(scan, {.baseline = 29}), std::invalid_argument);
  scan[3].samples[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)find_rise(scan, {}), std::invalid_argument);
  scan[3].samples.clear();
  EXPECT_THROW((void)find_rise(scan, {}), std::invalid_argument);
}

TEST(RiseConfidence, IsHighForAStepAndLowForNone) {
  EXPECT_GE(rise_confidence(std::vector<double>{1, 1, 1, 1, 1, 2, 2, 2, 2, 2}), 0.99);
  EXPECT_LT(rise_confidence(std::vector<double>{2, 2, 2, 2, 2, 1, 1, 1, 1, 1}), 0.1);
  EXPECT_EQ(rise_confidence(std::vector<double>{1, 1, 1, 1}), 0);
  EXPECT_EQ(rise_confidence(std::vector<double>{1}), 0);
}

TEST(RiseConfidence, CallsNoiseAChangeAboutAsOftenAsItSays) {
  int called = 0;
  constexpr int series = 400;
  for (int s = 0; s < series; ++s) {
    Noise noise{static_cast<std::uint64_t>(s)};
    std::vector<double> values;
    for (int i = 0; i < 24; ++i)
      values.push_back(noise(1));
    called += rise_confidence(values) >= 0.95 ? 1 : 0;
  }
  EXPECT_GE(called, 6);  // 5 % of 400 are 20, give or take 4.4
  EXPECT_LE(called, 36);
}

TEST(RiseOfEachRepetition, EstimatesOnceForEach) {
  auto scan = scan_of(28, 5, 0, step_at_14);
  scan[14].samples[3] = 32;
  EXPECT_EQ(rise_of_each_repetition(scan, {.least_shift = 2}),
            (std::vector<std::size_t>{14, 14, 14, 15, 14}));
  scan[2].samples.pop_back();
  EXPECT_THROW((void)rise_of_each_repetition(scan, {}), std::invalid_argument);
}

}  // namespace
}  // namespace strata
