#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace strata {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // Sorting numbers that do not compare is undefined; a median of them would be a wrong number.
    if (!std::isfinite(samples[i])) {
      throw std::invalid_argument{fmt::format("sample {} of {} is {}, not a finite number", i + 1,
                                              samples.size(), samples[i])};
    }
  }
  std::vector<double> ordered{samples.begin(), samples.end()};
  std::ranges::sort(ordered);
  return ordered;
}

std::vector<double> sorted_and_some(std::span<const double> samples) {
  if (samples.empty()) throw std::invalid_argument{"no samples"};
  return sorted(samples);
}

}  // namespace

double median(std::span<const double> samples) {
  const auto ordered = sorted_and_some(samples);
  const std::size_t half = ordered.size() / 2;
  if (ordered.size() % 2 == 1) return ordered[half];
  return std::midpoint(ordered[half - 1], ordered[half]);  // whose sum cannot overflow
}

double middle_mean(std::span<const double> samples) {
  const auto ordered = sorted_and_some(samples);
  const std::size_t left_out = std::min((ordered.size() + 3) / 4, (ordered.size() - 1) / 2);
  const auto middle = std::span{ordered}.subspan(left_out, ordered.size() - 2 * left_out);
  return std::reduce(middle.begin(), middle.end()) / static_cast<double>(middle.size());
}

double quantile(std::span<const double> samples, double probability) {
  if (!(probability >= 0 && probability <= 1)) {
    throw std::invalid_argument{fmt::format("no quantile of probability {}", probability)};
  }
  const auto ordered = sorted_and_some(samples);
  const double place = static_cast<double>(ordered.size() - 1) * probability;
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= ordered.size()) return ordered.back();
  return std::lerp(ordered[below], ordered[below + 1], place - static_cast<double>(below));
}

std::size_t median_interval_rank(std::size_t n, double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument{fmt::format("no interval of confidence {}", confidence)};
  }
  // The binomial coefficients relative to the middle one: the coefficient itself overflows and the
  // probability of an outer one underflows from n of about 1000 on. Going outwards from the middle
  // no term exceeds 1, and what is dropped at the end is less than the last digit of the sum.
  constexpr double negligible = 1e-25;
  const auto size = static_cast<double>(n);
  std::vector<double> lower;  // C(n, i) / C(n, n/2) for i = n/2, n/2 - 1, …
  double weight = 1;
  for (std::size_t i = n / 2;; --i) {
    lower.push_back(weight);
    if (i == 0 || weight < negligible) break;
    weight *= static_cast<double>(i) / (size - static_cast<double>(i) + 1);
  }
  const std::size_t first = n / 2 + 1 - lower.size();  // the outermost index that was kept
  // Added from the outside in, small ones first, so that the tails keep their digits.
  double sum = 0;
  for (std::size_t j = lower.size(); j-- > 1;)
    sum += lower[j];
  // Even n: one middle term, the rest twice. Odd n: the middle term stands twice as well.
  const double all = 2 * sum + (n % 2 == 0 ? 1 : 2);
  // A rank is good while the two tails outside it are at most what the confidence leaves; the slack
  // is for a confidence that some rank meets exactly.
  constexpr double slack = 1e-12;
  const double allowed = (1 - confidence) / 2 + slack;
  std::size_t rank = first;
  double tail = 0;
  for (std::size_t j = lower.size(); j-- > 0;) {
    tail += lower[j];
    if (tail / all > allowed) break;
    ++rank;
  }
  return rank;
}

std::optional<Interval> median_interval(std::span<const double> samples, double confidence) {
  const std::size_t rank = median_interval_rank(samples.size(), confidence);
  const auto ordered = sorted(samples);
  if (rank == 0) return std::nullopt;
  return Interval{ordered[rank - 1], ordered[ordered.size() - rank]};
}

double relative_half_width(const Interval& interval, double median) {
  const double half = interval.high / 2 - interval.low / 2;
  if (half == 0) return 0;
  if (median == 0) return std::numeric_limits<double>::infinity();
  return half / std::abs(median);
}

}  // namespace strata
