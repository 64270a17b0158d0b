#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace strata {
namespace {

/// Sorting NaNs is undefined behaviour, and a median of them would be wrong.
std::vector<double> sorted(std::span<const double> samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (std::isfinite(samples[i])) continue;
    throw std::invalid_argument{fmt::format("sample {} of {} is {}, not a finite number", i + 1,
                                            samples.size(), samples[i])};
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
  // The tolerance is for a confidence that a rank reaches exactly.
  constexpr double slack = 1e-12;
  const double allowed = (1 - confidence) / 2 + slack;  // below the rank, and as much above
  // With logarithms: from n of about 1000 on, C(n, i) overflows and 2^-n underflows.
  const auto size = static_cast<double>(n);
  double logarithm = -size * std::numbers::ln2;  // of P(B = rank)
  double tail = 0;                               // P(B < rank)
  for (std::size_t rank = 0; rank <= n / 2; ++rank) {
    tail += std::exp(logarithm);
    if (tail > allowed) return rank;
    const auto below = static_cast<double>(rank);
    logarithm += std::log((size - below) / (below + 1));
  }
  return n / 2;
}

std::optional<Interval> median_interval(std::span<const double> samples, double confidence) {
  const std::size_t rank = median_interval_rank(samples.size(), confidence);
  const auto ordered = sorted(samples);
  if (rank == 0) return std::nullopt;
  return Interval{ordered[rank - 1], ordered[ordered.size() - rank]};
}

Centre centre_of(std::span<const double> samples, std::span<const std::size_t> sizes) {
  if (sizes.empty()) return {median(samples), median_interval(samples)};
  std::vector<double> medians;
  std::optional<Interval> hull;
  for (const std::size_t size : sizes) {
    const auto visit = samples.first(size);
    samples = samples.subspan(size);
    const auto interval = median_interval(visit);
    if (medians.empty()) {
      hull = interval;
    } else if (hull && interval) {
      hull = Interval{std::min(hull->low, interval->low), std::max(hull->high, interval->high)};
    } else {
      hull.reset();
    }
    medians.push_back(median(visit));
  }
  return {median(medians), hull};
}

TwoGroups two_groups(std::span<const double> samples) {
  const std::vector<double> values = sorted(samples);
  const auto count = static_cast<double>(values.size());
  const double all = std::accumulate(values.begin(), values.end(), 0.0);
  double squares = 0;
  for (const double x : values)
    squares += (x - all / count) * (x - all / count);
  TwoGroups best;
  if (!(squares > 0)) return best;
  double below = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    below += values[i - 1];
    const auto left = static_cast<double>(i);
    const double distance = below / left - (all - below) / (count - left);
    const double share = left * (count - left) / count * distance * distance / squares;
    if (share > best.share) best = {.share = share, .lower = i};
  }
  return best;
}

double relative_half_width(const Interval& interval, double median) {
  const double half = interval.high / 2 - interval.low / 2;
  if (half == 0) return 0;
  if (median == 0) return std::numeric_limits<double>::infinity();
  return half / std::abs(median);
}

}  // namespace strata
