// Medians and their confidence intervals, without assumptions about the distribution. Every
// function throws std::invalid_argument for a sample that is not finite.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace strata {

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

/// Of an even number of samples, the mean of the two in the middle. Throws std::invalid_argument
/// when there are none.
[[nodiscard]] double median(std::span<const double> samples);

/// The mean of n samples without the (n + 3) / 4 lowest and highest (fewer if none would remain):
/// robust against rare outliers and not quantised by a coarse timer. Throws std::invalid_argument
/// when there are none.
[[nodiscard]] double middle_mean(std::span<const double> samples);

/// Quantile of `probability` in [0, 1] by linear interpolation (type 7, the default of NumPy and
/// R). Throws std::invalid_argument when there are no samples or the probability is out of range.
[[nodiscard]] double quantile(std::span<const double> samples, double probability);

/// The largest k for which P(k <= B <= n-k) >= confidence, B ~ Binomial(n, 1/2), or 0: the median
/// lies between the k-th smallest and k-th largest of n samples with that confidence or more.
[[nodiscard]] std::size_t median_interval_rank(std::size_t n, double confidence = 0.95);

/// The confidence interval of the median by order statistics: [x_(k), x_(n+1-k)]. Empty if there
/// are too few samples: fewer than six at 95 %.
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> samples,
                                                      double confidence = 0.95);

/// The median of samples and its interval. For several visits, of `sizes` samples each: the median
/// of their medians, and an interval from the lowest to the highest end of theirs. Differences
/// between processes (placement of the data, core) are not part of one visit's interval.
struct Centre {
  double value = 0;
  std::optional<Interval> interval;
};
[[nodiscard]] Centre centre_of(std::span<const double> samples, std::span<const std::size_t> sizes);

/// The division of samples at a value that explains most of their variance. Uniformly spread
/// samples give a share of 0.75, normally distributed ones 0.64.
struct TwoGroups {
  double share = 0;       ///< of the variance; 0 if all samples are equal
  std::size_t lower = 0;  ///< samples of the lower group
};
[[nodiscard]] TwoGroups two_groups(std::span<const double> samples);

/// Half the width of the interval ÷ |median|: 0 for zero width, infinite for a zero median.
[[nodiscard]] double relative_half_width(const Interval& interval, double median);

}  // namespace strata
