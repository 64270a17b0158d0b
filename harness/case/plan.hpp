#pragma once

namespace strata {

/// How long to sample one case. Sampling ends when the 95 % confidence interval of the median of
/// every watched quantity is narrow enough, or at a cap; the reason is recorded with the case.
struct Plan {
  int warmups = 1;       ///< observed and discarded: load code, warm caches and clocks
  int min_samples = 7;   ///< at least 6: with fewer, there is no 95 % interval of the median
  int max_samples = 41;  ///< cap
  double relative_half_width = 0.01;  ///< bound: half the interval's width ÷ the median
  double seconds_per_case = 2;        ///< cap on the time spent sampling one case
  double time_limit = 60;             ///< seconds after which a case counts as hung and is killed
  /// How often each case is timed, each time by another process; only once if that took longer than
  /// twice seconds_per_case.
  int visits = 1;
  bool operator==(const Plan&) const = default;
};

}  // namespace strata
