#include "harness/access/command/optimize_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <stdexcept>

namespace strata::access {
namespace {

TriedChange tried(const std::vector<Trial>& launches, double false_alarms) {
  TriedChange change;
  bool is_faster = false;
  for (const Trial& launch : launches) {
    if (!launch.failure.empty()) {
      change.why_not = launch.failure;
      return change;
    }
    if (launch.different > 0) {
      change.why_not = fmt::format("{} bytes differ on the device", launch.different);
      return change;
    }
    std::vector<double> ratios;
    std::ranges::transform(launch.optimized, launch.original, std::back_inserter(ratios),
                           std::divides<>{});
    // Each of its ends is beyond the median with that probability.
    const auto interval = median_interval(ratios, 1 - 2 * false_alarms);
    if (!interval) throw std::invalid_argument{"a trial needs more turns"};
    change.ratios.push_back(*interval);
    change.original += median(launch.original);
    change.optimized += median(launch.optimized);
    is_faster = is_faster || interval->high < 1;
  }
  const bool is_slower =
      std::ranges::any_of(change.ratios, [](const strata::Interval& one) { return one.low > 1; });
  if (is_slower) {
    change.why_not = launches.size() > 1 ? "a launch is slower" : "it is slower";
  } else if (!is_faster) {
    change.why_not = "it is not faster";
  }
  return change;
}

}  // namespace

Outcome outcome_of(std::span<const std::vector<Trial>> changes) {
  std::size_t launches = 0;
  for (const auto& one : changes)
    launches += one.size();
  Outcome outcome;
  double most = 0;
  for (const auto& one : changes) {
    const TriedChange& change =
        outcome.changes.emplace_back(tried(one, false_alarm_rate / static_cast<double>(launches)));
    const double saved = change.original - change.optimized;
    if (!change.why_not.empty() || saved <= most) continue;
    most = saved;
    outcome.kept = outcome.changes.size() - 1;
  }
  return outcome;
}

}  // namespace strata::access
