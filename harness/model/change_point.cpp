#include "harness/model/change_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>

namespace strata {
namespace {

constexpr std::size_t least_behind = 3;  // positions: two may be outliers

/// An integer in [0, bound), the same with every standard library; standard distributions differ.
std::size_t below(std::mt19937_64& random, std::size_t bound) {
  return static_cast<std::size_t>(random() % bound);
}

/// Rank of each value, from 1; equal values share the mean of their ranks.
std::vector<double> midranks(std::span<const double> values) {
  std::vector<double> sorted{values.begin(), values.end()};
  std::ranges::sort(sorted);
  std::vector<double> ranks;
  for (const double value : values) {
    // Not std::ranges::equal_range: clang 14 cannot compile libstdc++'s subrange.
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(static_cast<double>(first - sorted.begin() + 1 + (last - sorted.begin())) / 2);
  }
  return ranks;
}

/// The largest standardised Mann-Whitney statistic over all splits, signed so that a rise is
/// positive: rising minus falling pairs across the split, divided by the standard deviation for
/// random order.
double largest_rise(const std::vector<double>& ranks) {
  const auto n = static_cast<double>(ranks.size());
  double sum = 0;
  double most = 0;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    sum += ranks[i - 1];
    const auto k = static_cast<double>(i);
    const double rising = k * (n + 1) - 2 * sum;
    most = std::max(most, rising / std::sqrt(k * (n - k)));  // a common factor is left out
  }
  return most;
}

void require_samples(std::span<const ScanPoint> scan) {
  for (const auto& point : scan) {
    if (point.samples.empty()) throw std::invalid_argument{"a position without samples"};
    for (const double sample : point.samples) {
      if (!std::isfinite(sample)) throw std::invalid_argument{"a sample that is not finite"};
    }
  }
}

std::vector<double> medians_of(std::span<const ScanPoint> scan) {
  std::vector<double> medians;
  for (const auto& point : scan)
    medians.push_back(median(point.samples));
  return medians;
}

/// The split contradicted by the fewest positions, the first of several: `before`, `against`, and
/// the level of comparison.
ChangePoint best_split(std::span<const ScanPoint> scan, const ChangeRule& rule) {
  if (rule.baseline == 0 || rule.baseline > scan.size()) {
    throw std::invalid_argument{"a scan needs positions before the change"};
  }
  std::vector<double> first;
  for (const auto& point : scan.first(rule.baseline))
    first.insert(first.end(), point.samples.begin(), point.samples.end());
  ChangePoint best{.level = median(first)};
  for (double& sample : first)
    sample = std::abs(sample - best.level);
  // Five standard deviations of a normal distribution, estimated from the median absolute deviation
  // of all observations there: noise exceeds that once in millions.
  best.least_shift = std::max(rule.least_shift, 5 * 1.4826 * median(first));

  const auto medians = medians_of(scan);
  const auto is_away = [&](double value) { return value - best.level > best.least_shift; };
  // With nothing before it, every position at the level contradicts the split.
  auto against = static_cast<std::size_t>(
      std::ranges::count_if(medians, [&](double value) { return !is_away(value); }));
  best.against = against;
  for (std::size_t k = 1; k <= medians.size(); ++k) {
    against = is_away(medians[k - 1]) ? against + 1 : against - 1;
    if (against >= best.against) continue;
    best.before = k;
    best.against = against;
  }
  return best;
}

/// The ends of the middle 95 % of `before` when the samples of each position are resampled.
std::pair<std::size_t, std::size_t> interval_of_place(std::span<const ScanPoint> scan,
                                                      const ChangeRule& rule) {
  constexpr std::size_t draws = 200;
  constexpr std::size_t left_out = draws / 40;  // 2.5 % at each end
  std::mt19937_64 random{1979};                 // NOLINT(cert-msc51-cpp): the same answer each time
  std::vector<std::size_t> places;
  std::vector<ScanPoint> drawn{scan.begin(), scan.end()};
  for (std::size_t draw = 0; draw < draws; ++draw) {
    for (std::size_t p = 0; p < scan.size(); ++p) {
      for (double& sample : drawn[p].samples)
        sample = scan[p].samples[below(random, scan[p].samples.size())];
    }
    places.push_back(best_split(drawn, rule).before);
  }
  std::ranges::sort(places);
  return {places[left_out], places[draws - 1 - left_out]};
}

}  // namespace

double rise_confidence(std::span<const double> series) {
  for (const double value : series) {
    if (!std::isfinite(value)) throw std::invalid_argument{"a value that is not finite"};
  }
  if (series.size() < 2) return 0;
  constexpr int permutations = 1999;
  constexpr double rounding = 1e-12;
  std::vector<double> ranks = midranks(series);
  const double observed = largest_rise(ranks);
  std::mt19937_64 random{2009};  // NOLINT(cert-msc51-cpp): the same answer each time
  int as_large = 1;              // the observed order is one of them
  for (int i = 0; i < permutations; ++i) {
    for (std::size_t n = ranks.size(); n > 1; --n)
      std::swap(ranks[n - 1], ranks[below(random, n)]);
    if (largest_rise(ranks) >= observed * (1 - rounding)) ++as_large;
  }
  return 1 - static_cast<double>(as_large) / (permutations + 1);
}

ChangePoint find_rise(std::span<const ScanPoint> scan, const ChangeRule& rule) {
  require_samples(scan);
  ChangePoint change = best_split(scan, rule);
  change.confidence = rise_confidence(medians_of(scan));
  change.low = change.before;
  change.high = change.before;
  if (change.confidence < rule.confidence || change.before == scan.size()) {
    change.outcome = ChangeOutcome::none;
  } else if (change.before < rule.baseline) {
    change.outcome = ChangeOutcome::too_early;
  } else if (scan.size() - change.before < least_behind) {
    change.outcome = ChangeOutcome::too_late;
  } else if (static_cast<double>(change.against) >
             rule.contradicting * static_cast<double>(scan.size())) {
    change.outcome = ChangeOutcome::unclear;
  } else {
    const auto [low, high] = interval_of_place(scan, rule);
    change.outcome = ChangeOutcome::found;
    change.low = std::min(low, change.before);
    change.high = std::max(high, change.before);
  }
  return change;
}

std::vector<std::size_t> rise_of_each_repetition(std::span<const ScanPoint> scan,
                                                 const ChangeRule& rule) {
  require_samples(scan);
  const std::size_t repetitions = scan.empty() ? 0 : scan.front().samples.size();
  std::vector<std::size_t> places;
  for (std::size_t r = 0; r < repetitions; ++r) {
    std::vector<ScanPoint> one;
    for (const auto& point : scan) {
      if (point.samples.size() != repetitions) {
        throw std::invalid_argument{"positions with different numbers of repetitions"};
      }
      one.push_back({.x = point.x, .samples = {point.samples[r]}});
    }
    places.push_back(best_split(one, rule).before);
  }
  return places;
}

std::string describe(const ChangePoint& change) {
  // In the order of the enumeration.
  static constexpr std::array what{"a change", "no change",
                                   "a change before the examined positions",
                                   "a change at the end of the examined positions",
                                   "a change that several positions contradict"};
  return fmt::format("{} (confidence {:.4f}, {} positions against it)",
                     what.at(static_cast<std::size_t>(change.outcome)), change.confidence,
                     change.against);
}

}  // namespace strata
