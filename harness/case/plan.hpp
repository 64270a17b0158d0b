#pragma once

namespace strata {

/// How long to go on sampling one case. Sampling ends when every watched quantity's 95 % confidence
/// interval of the median is narrow enough, or at a cap; which of them is recorded with the case.
struct Plan {
  int warmups = 1;       ///< observed and thrown away: code loaded, caches and clocks warm
  int min_samples = 7;   ///< at least 6: below that no 95 % interval of the median exists
  int max_samples = 41;  ///< cap
  double relative_half_width = 0.01;  ///< bound: half the interval's width ÷ the median
  double seconds_per_case = 2;        ///< cap on the time spent sampling one case
  double time_limit = 60;             ///< seconds after which a case counts as hung and is ended
  /// How often each case is timed, each time by another process: once where that took longer than
  /// twice seconds_per_case.
  int visits = 1;
  bool operator==(const Plan&) const = default;
};

}  // namespace strata
