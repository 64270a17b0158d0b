// The order in which a case is measured: discard warm-ups, then prepare, observe and keep until the
// stopping rule is met. A template over the subject, so that a test can check the order with a
// fake.
#pragma once

#include "harness/case/plan.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace strata {

/// Something that can be put into its starting state and observed once. An observation may hold
/// several numbers; `watched` selects those for the stopping rule.
template <class S>
concept Subject = requires(S& subject) {
  subject.prepare();
  { subject.watched(subject.observe()) } -> std::convertible_to<std::vector<double>>;
};

/// Why sampling ended.
enum class Stop { precise, sample_cap, time_cap };

[[nodiscard]] constexpr const char* to_string(Stop stop) {
  switch (stop) {
    case Stop::precise:
      return "precise";
    case Stop::sample_cap:
      return "sample cap";
    case Stop::time_cap:
      return "time cap";
  }
  return "unknown";
}

template <class Observation>
struct Collection {
  std::vector<Observation> kept;  ///< in the order taken, none left out
  Stop stop = Stop::sample_cap;

  /// One number of each observation, in order.
  template <class Value>
  [[nodiscard]] std::vector<double> series(Value&& value) const {
    std::vector<double> samples;
    samples.reserve(kept.size());
    for (const auto& one : kept)
      samples.push_back(std::invoke(value, one));
    return samples;
  }
};

/// True when every series has a 95 % interval of its median no wider than the plan's bound.
[[nodiscard]] inline bool is_precise(const std::vector<std::vector<double>>& series, double bound) {
  return std::ranges::all_of(series, [bound](const std::vector<double>& samples) {
    const auto interval = median_interval(samples);
    return interval && relative_half_width(*interval, median(samples)) <= bound;
  });
}

/// Samples `subject` by `plan`. Every kept observation follows its own prepare(). Warm-ups are not
/// kept. At least min_samples are kept, however long they take.
template <Subject S, std::invocable Now = std::chrono::steady_clock::time_point (*)()>
auto collect(S& subject, const Plan& plan, Now&& now = &std::chrono::steady_clock::now) {
  using Observation = decltype(subject.observe());
  for (int i = 0; i < plan.warmups; ++i) {
    subject.prepare();
    (void)subject.observe();
  }
  Collection<Observation> result;
  std::vector<std::vector<double>> series;
  const auto started = now();
  for (int count = 1;; ++count) {
    subject.prepare();
    result.kept.push_back(subject.observe());
    const auto watched = subject.watched(result.kept.back());
    series.resize(watched.size());
    for (std::size_t q = 0; q < watched.size(); ++q)
      series[q].push_back(watched[q]);
    if (count < plan.min_samples) continue;
    if (is_precise(series, plan.relative_half_width)) {
      result.stop = Stop::precise;
      return result;
    }
    if (count >= plan.max_samples) return result;
    const std::chrono::duration<double> spent = now() - started;
    if (spent.count() >= plan.seconds_per_case) {
      result.stop = Stop::time_cap;
      return result;
    }
  }
}

}  // namespace strata
