// The middle of a set of samples and how well it is known, with no assumption on their
// distribution. Every function throws std::invalid_argument for a sample that is not finite.
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

/// The middle one; of an even number, the mean of the two in the middle. Throws
/// std::invalid_argument when there are none.
[[nodiscard]] double median(std::span<const double> samples);

/// The mean of what is left of n ordered samples without the (n + 3) / 4 lowest and highest (fewer,
/// where nothing would be left). Rare outliers do not move it, as they do a mean, nor does it go in
/// steps, as the median of a coarse timer's values does. Throws std::invalid_argument when there
/// are none.
[[nodiscard]] double middle_mean(std::span<const double> samples);

/// A record of which each of `numbers` is the median of that number in several records; the other
/// members are as they begin. Throws std::invalid_argument when there are no records.
template <class Record, class... Numbers>
[[nodiscard]] Record median_record(const std::vector<Record>& several,
                                   Numbers Record::*... numbers) {
  Record middle{};
  const auto take = [&](double Record::*number) {
    std::vector<double> values;
    values.reserve(several.size());
    for (const Record& one : several)
      values.push_back(one.*number);
    middle.*number = median(values);
  };
  (take(numbers), ...);
  return middle;
}

/// Quantile of `probability` in [0, 1] by linear interpolation (type 7: what NumPy and R do by
/// default). Throws std::invalid_argument when there are no samples or the probability is outside.
[[nodiscard]] double quantile(std::span<const double> samples, double probability);

/// The largest k for which P(k <= B <= n-k) >= confidence, B ~ Binomial(n, 1/2); 0 when there is
/// none. From the k-th smallest to the k-th largest of n samples lies the median, whatever their
/// distribution, with at least that confidence.
[[nodiscard]] std::size_t median_interval_rank(std::size_t n, double confidence = 0.95);

/// The confidence interval of the median by order statistics: [x_(k), x_(n+1-k)]. Nothing when
/// there are too few samples for one: fewer than six at 95 %.
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> samples,
                                                      double confidence = 0.95);

/// Half the width of the interval ÷ |median|: 0 for no width at all, infinite around a zero median.
[[nodiscard]] double relative_half_width(const Interval& interval, double median);

}  // namespace strata
