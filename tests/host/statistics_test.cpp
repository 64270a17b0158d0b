#include "harness/record/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace strata {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Median, IsTheMiddleOneOfAnOddNumberInWhateverOrder) {
  EXPECT_EQ(median(std::vector{9.0, 1.0, 5.0}), 5);
  EXPECT_EQ(median(std::vector{7.0}), 7);
}

TEST(Median, IsTheMeanOfTheTwoMiddlesOfAnEvenNumber) {
  EXPECT_EQ(median(std::vector{4.0, 1.0, 3.0, 100.0}), 3.5);
}

TEST(Median, OfTwoHugeNumbersDoesNotOverflow) {
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(median(std::vector{huge, huge}), huge);
}

TEST(Median, RefusesNoSamplesAndNumbersThatAreNotFinite) {
  EXPECT_THROW((void)median(std::vector<double>{}), std::invalid_argument);
  EXPECT_THROW((void)median(std::vector{1.0, nan}), std::invalid_argument);
  EXPECT_THROW((void)median(std::vector{1.0, infinity, 2.0}), std::invalid_argument);
}

TEST(TwoGroups, AreFoundWhereSamplesHaveTwoPeaks) {
  const TwoGroups found = two_groups(std::vector{2351.0, 2114.0, 2350.0, 2112.0, 2352.0});
  EXPECT_EQ(found.lower, 2U);
  EXPECT_GT(found.share, 0.99);
  std::vector<double> uniform(1000);
  std::iota(uniform.begin(), uniform.end(), 0.0);
  EXPECT_NEAR(two_groups(uniform).share, 0.75, 1e-3);
  EXPECT_EQ(two_groups(uniform).lower, 500U);
  EXPECT_EQ(two_groups(std::vector{5.0, 5.0, 5.0}).share, 0);
  EXPECT_EQ(two_groups(std::vector<double>{}).share, 0);
}

TEST(MiddleMean, LeavesOutAQuarterAtEitherEnd) {
  EXPECT_EQ(middle_mean(std::vector{-1e9, 1.0, 2.0, 3.0, 6.0, 7.0, 8.0, 1e9}), 4.5);
  EXPECT_EQ(middle_mean(std::vector{1e9, 4.0, 0.0, 3.0, 8.0}), 4.0);
  EXPECT_EQ(middle_mean(std::vector{1.0, 2.0, 3.0, 4.0, 8.0, 9.0, 10.0}), 5.0);
}

TEST(MiddleMean, OfFewIsTheirMedian) {
  EXPECT_EQ(middle_mean(std::vector{3.0}), 3);
  EXPECT_EQ(middle_mean(std::vector{3.0, 5.0}), 4);
  EXPECT_EQ(middle_mean(std::vector{9.0, 1.0, 5.0}), 5);
  EXPECT_EQ(middle_mean(std::vector{4.0, 1.0, 3.0, 100.0}), 3.5);
}

TEST(MiddleMean, RefusesNoSamplesAndNumbersThatAreNotFinite) {
  EXPECT_THROW((void)middle_mean(std::vector<double>{}), std::invalid_argument);
  EXPECT_THROW((void)middle_mean(std::vector{1.0, nan}), std::invalid_argument);
}

TEST(Quantile, AgreesWithTheDefaultOfNumPyAndR) {
  const std::vector<double> samples{3, 1, 4, 1, 5, 9, 2, 6};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.1), 1);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.333), 2.331);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), median(samples));
  EXPECT_DOUBLE_EQ(quantile(samples, 0.9), 6.9);
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 9);
  EXPECT_THROW((void)quantile(samples, 1.01), std::invalid_argument);
  EXPECT_THROW((void)quantile(samples, nan), std::invalid_argument);
}

/// The same in whole numbers, which round nothing: 40 × (outcomes in one tail) <= all outcomes.
std::size_t exact_rank(std::uint64_t n) {
  const std::uint64_t all = std::uint64_t{1} << n;
  std::uint64_t coefficient = 1;
  std::uint64_t tail = 0;
  for (std::uint64_t rank = 0;; ++rank) {
    tail += coefficient;
    if (40 * tail > all) return rank;
    coefficient = coefficient * (n - rank) / (rank + 1);
  }
}

TEST(MedianInterval, HasTheRankOfExactArithmeticForEverySmallNumber) {
  for (std::uint64_t n = 1; n <= 55; ++n) {
    EXPECT_EQ(median_interval_rank(n), exact_rank(n)) << "of " << n;
  }
}

TEST(MedianInterval, HasTheRankOfExactArithmeticForLargeNumbers) {
  // From Python's integers: the largest k with 40 * sum(comb(n, i) for i < k) <= 2**n.
  EXPECT_EQ(median_interval_rank(100), 40U);
  EXPECT_EQ(median_interval_rank(101), 41U);
  EXPECT_EQ(median_interval_rank(1000), 469U);
  EXPECT_EQ(median_interval_rank(1001), 470U);
  EXPECT_EQ(median_interval_rank(4097), 1986U);
  EXPECT_EQ(median_interval_rank(10000), 4902U);
  EXPECT_EQ(median_interval_rank(99999), 49690U);
  EXPECT_EQ(median_interval_rank(100000), 49690U);
}

TEST(MedianInterval, FollowsTheConfidenceThatIsAsked) {
  EXPECT_EQ(median_interval_rank(2, 0.5), 1U);      // P(1 <= B <= 1) is exactly one half
  EXPECT_EQ(median_interval_rank(6, 0.96875), 1U);  // 1 - 2/64, met exactly
  EXPECT_EQ(median_interval_rank(6, 0.9688), 0U);
  EXPECT_EQ(median_interval_rank(41, 0.99), 12U);
  EXPECT_THROW((void)median_interval_rank(10, 1), std::invalid_argument);
  EXPECT_THROW((void)median_interval_rank(10, 0), std::invalid_argument);
}

TEST(MedianInterval, NeedsSixSamples) {
  EXPECT_FALSE(median_interval(std::vector<double>{}));
  EXPECT_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(median_interval(std::vector<double>{6, 2, 3, 4, 5, 1}), (Interval{1, 6}));
}

TEST(MedianInterval, IsBetweenTheRanksCountedFromBothEnds) {
  std::vector<double> samples(41);
  std::iota(samples.rbegin(), samples.rend(), 1.0);  // 41 … 1; rank 14 at 95 %
  EXPECT_EQ(median_interval(samples), (Interval{14, 28}));
}

TEST(MedianInterval, CoversTheMedianOfASkewedDistributionAsOftenAsItSays) {
  std::mt19937_64 random{20261121};
  std::exponential_distribution<double> skewed{1};
  constexpr int repetitions = 4000;
  int covered = 0;
  for (int i = 0; i < repetitions; ++i) {
    std::vector<double> samples(15);  // rank 4: 96.5 %
    for (auto& sample : samples)
      sample = skewed(random);
    const auto interval = median_interval(samples);
    covered += interval->low <= std::log(2) && std::log(2) <= interval->high ? 1 : 0;
  }
  EXPECT_NEAR(covered / double{repetitions}, 0.9648, 0.012);  // four standard deviations
}

TEST(MedianInterval, RefusesANumberThatIsNotFiniteEvenAmongTooFew) {
  EXPECT_THROW((void)median_interval(std::vector{1.0, nan}), std::invalid_argument);
}

TEST(CentreOf, OfSeveralVisitsHoldsWhatChangesBetweenThem) {
  const std::vector<double> samples{1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16, 17};
  const Centre one = centre_of(samples, {});
  EXPECT_EQ(one.value, 11);
  EXPECT_EQ(one.interval, median_interval(samples));
  const Centre two = centre_of(samples, std::vector<std::size_t>{6, 7});
  EXPECT_EQ(two.value, (3.5 + 14) / 2);
  EXPECT_EQ(two.interval, (Interval{1, 17}));
  EXPECT_FALSE(centre_of(samples, std::vector<std::size_t>{5, 8}).interval) << "too few for one";
  EXPECT_FALSE(centre_of(samples, std::vector<std::size_t>{8, 5}).interval);
}

TEST(RelativeHalfWidth, IsHalfTheWidthInUnitsOfTheMedian) {
  EXPECT_DOUBLE_EQ(relative_half_width({90, 110}, 100), 0.1);
  EXPECT_DOUBLE_EQ(relative_half_width({-110, -90}, -100), 0.1);
}

TEST(RelativeHalfWidth, OfAZeroMedianIsInfiniteUnlessThereIsNoWidth) {
  EXPECT_EQ(relative_half_width({-1, 1}, 0), infinity);
  EXPECT_EQ(relative_half_width({0, 0}, 0), 0);
}

}  // namespace
}  // namespace strata
