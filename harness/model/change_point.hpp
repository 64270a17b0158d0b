// Change point of a series of measurements: whether there is one, at which position, and with what
// confidence. For cache sizes, lines and sectors, whose latency steps or bends somewhere.
//
// Whether: Pettitt's scan over the medians of the positions, with a permutation test. Where: the
// split contradicted by the fewest positions, so that a ramp changes at its beginning and not in
// its middle; the interval is by bootstrap. SOURCES.md gives reasons and literature.
#pragma once

#include "harness/record/statistics.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace strata {

/// A position of a scan and its observations, one per repetition.
struct ScanPoint {
  double x = 0;
  std::vector<double> samples;
};

/// What counts as a change to a higher level.
struct ChangeRule {
  std::size_t baseline = 6;     ///< number of first positions before the change
  double least_shift = 0;       ///< a smaller deviation of a median is not a change
  double confidence = 0.99;     ///< required confidence in a change
  double contradicting = 0.15;  ///< share of positions that may contradict the split
};

enum class ChangeOutcome {
  found,
  none,       ///< not significant, or nothing left the level
  too_early,  ///< within the positions that should be before it
  too_late,   ///< too few positions remain after it
  unclear     ///< too many positions contradict every split
};

struct ChangePoint {
  ChangeOutcome outcome = ChangeOutcome::none;
  double confidence = 0;    ///< 1 − p for a change, for every outcome
  std::size_t before = 0;   ///< positions before the change: [before − 1] is the last of them
  std::size_t low = 0;      ///< lower end of the 95 % interval of `before`
  std::size_t high = 0;     ///< upper end
  double level = 0;         ///< median of the first positions
  double least_shift = 0;   ///< the required deviation of a median from the level
  std::size_t against = 0;  ///< positions that contradict the split

  [[nodiscard]] bool is_found() const { return outcome == ChangeOutcome::found; }
};

/// 1 − p for a rise somewhere in the series, by 1999 permutations; 0 for fewer than two values.
/// Throws std::invalid_argument for a value that is not finite.
[[nodiscard]] double rise_confidence(std::span<const double> series);

/// Looks for the change to a higher level. Every position needs a sample, all of them finite;
/// throws std::invalid_argument otherwise.
[[nodiscard]] ChangePoint find_rise(std::span<const ScanPoint> scan, const ChangeRule& rule);

/// One estimate of `before` from each repetition alone, by the same rule. All positions must have
/// as many samples as the first one; throws std::invalid_argument otherwise.
[[nodiscard]] std::vector<std::size_t> rise_of_each_repetition(std::span<const ScanPoint> scan,
                                                               const ChangeRule& rule);

/// In one line: "no change (confidence 0.41)".
[[nodiscard]] std::string describe(const ChangePoint& change);

}  // namespace strata
