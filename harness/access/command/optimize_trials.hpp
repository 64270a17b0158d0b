// Changes of a kernel that a device has tried, by turns with the original, and which of them is
// kept: one that is faster beyond chance.
#pragma once

#include "harness/access/optimize/change.hpp"
#include "harness/record/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::access {

/// A launch of the original and of what a change makes of it.
struct Trial {
  std::vector<double> original = {};  ///< seconds a launch, by turns with `optimized`
  std::vector<double> optimized = {};
  std::uint64_t different = 0;  ///< bytes that the optimized kernel leaves otherwise
  std::string failure = {};     ///< why nothing was timed
};

/// The probability that a kernel which no change makes faster is changed all the same.
inline constexpr double false_alarm_rate = 0.01;

/// Of all launches of one change.
struct TriedChange {
  double original = 0;   ///< seconds: the sum of the launches' medians
  double optimized = 0;  ///< seconds
  std::vector<strata::Interval>
      ratios;                ///< of each launch: interval of the median of optimized ÷ original
  std::string why_not = {};  ///< it cannot be kept; empty where it is faster
};

struct Outcome {
  std::vector<TriedChange> changes;
  std::optional<std::size_t> kept;  ///< the one that saves most time, if any is faster
};

/// `changes`: of each change its launches, one at least. A change is faster if some launch is and
/// none is slower, with a false-alarm rate that all launches of all changes share.
[[nodiscard]] Outcome outcome_of(std::span<const std::vector<Trial>> changes);

/// A launch to be tried.
struct TrialRequest {
  std::string file;    ///< launch file
  std::string change;  ///< in words of a command line
};

}  // namespace strata::access
