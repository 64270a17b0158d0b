// Where a series of measurements leaves its level: whether it does at all, at which position, and
// how sure that is. For cache sizes, lines and sectors, whose latency steps or bends somewhere.
//
// Whether: Pettitt's scan over the medians of the positions, against permutations of them. Where:
// the split that the fewest positions contradict, so that a ramp changes where it begins and not in
// its middle; its interval by bootstrap. SOURCES.md gives reasons and literature.
#pragma once

#include "harness/record/statistics.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace strata {

/// A position of a scan and what was observed there, repetition by repetition.
struct ScanPoint {
  double x = 0;
  std::vector<double> samples;
};

/// What counts as a change to a higher level.
struct ChangeRule {
  std::size_t baseline = 6;     ///< so many first positions lie before the change
  double least_shift = 0;       ///< a median that left the level by no more has not left it
  double confidence = 0.99;     ///< of there being a change at all
  double contradicting = 0.15;  ///< share of positions that may contradict the split
};

enum class ChangeOutcome {
  found,
  none,       ///< not significant, or nothing left the level
  too_early,  ///< among the positions that were to lie before it
  too_late,   ///< too few positions are left behind it
  unclear     ///< too many positions contradict every split
};

struct ChangePoint {
  ChangeOutcome outcome = ChangeOutcome::none;
  double confidence = 0;    ///< 1 − p of there being a change, whatever the outcome
  std::size_t before = 0;   ///< positions before the change: [before − 1] is the last of them
  std::size_t low = 0;      ///< `before` at the lower end of its 95 % interval,
  std::size_t high = 0;     ///< and at the upper
  double level = 0;         ///< median of the first positions
  double least_shift = 0;   ///< what a median had to exceed the level by
  std::size_t against = 0;  ///< positions that contradict the split

  [[nodiscard]] bool is_found() const { return outcome == ChangeOutcome::found; }
};

/// 1 − p of the series rising somewhere, by 1999 permutations; 0 for fewer than two values. Throws
/// std::invalid_argument for a value that is not finite.
[[nodiscard]] double rise_confidence(std::span<const double> series);

/// Looks for the change to a higher level. Every position needs a sample, all of them finite;
/// throws std::invalid_argument otherwise.
[[nodiscard]] ChangePoint find_rise(std::span<const ScanPoint> scan, const ChangeRule& rule);

/// One estimate of `before` from each repetition by itself, by the same rule of place. All
/// positions must have as many samples as the first one; throws std::invalid_argument otherwise.
[[nodiscard]] std::vector<std::size_t> rise_of_each_repetition(std::span<const ScanPoint> scan,
                                                               const ChangeRule& rule);

/// In one line, for people: "no change (confidence 0.41)".
[[nodiscard]] std::string describe(const ChangePoint& change);

}  // namespace strata
