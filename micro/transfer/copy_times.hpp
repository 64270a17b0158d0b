// Shared by the benchmarks that time copies: copies per sample, and rows.
#pragma once

#include "harness/measure/description.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/measure/machine.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace strata::copy_times {

inline constexpr double wanted_seconds = 5e-4;  // of a sample

/// From this size on, the calls and the waiting, some ten microseconds, are less than half of what
/// the timer gate allows between the events around a copy and the caller's clock.
inline constexpr double same_from_seconds = 2e-3;

/// Whether a copy of `least_seconds` may be so short that calls and events matter.
[[nodiscard]] constexpr bool is_brief(double least_seconds) {
  return least_seconds < wanted_seconds;
}

/// Number of copies, each waited for, in a sample: half a millisecond of them, at least three. Of
/// copies longer than a scheduler's slice, one: several would only take longer.
[[nodiscard]] inline std::uint32_t copies_per_sample(double least_seconds) {
  constexpr double for_a_middle = 3;
  constexpr double slice_seconds = 4e-3;
  if (least_seconds > slice_seconds) return 1;
  return static_cast<std::uint32_t>(
      std::max(for_a_middle, std::floor(wanted_seconds / least_seconds)));
}

/// A sample.
struct Seconds {
  double device = 0;
  double caller = 0;
  double overlap = 0;  ///< share of the time in which copies in both directions were under way
};

/// Each the middle of `copies` (middle_mean). Short ones are repeated for their caller, without
/// recording events and holding them back.
[[nodiscard]] inline Seconds middle_of(std::uint32_t copies, bool brief,
                                       const std::function<BothSides()>& both_sides,
                                       const std::function<double()>& caller) {
  std::vector<double> device(copies);
  std::vector<double> walls(copies);
  for (std::uint32_t i = 0; i < copies; ++i) {
    const BothSides seen = both_sides();
    device[i] = seen.device;
    walls[i] = seen.caller;
  }
  if (brief) std::ranges::generate(walls, caller);
  return {.device = middle_mean(device), .caller = middle_mean(walls)};
}

/// For an axis: a word, `factor` times as much, and so on up to `most` bytes.
[[nodiscard]] inline std::vector<std::string> sizes(long long most, long long factor) {
  std::vector<std::string> bytes;
  for (long long size = sizeof(std::uint32_t); size <= most; size *= factor)
    bytes.push_back(std::to_string(size));
  return bytes;
}

/// The rows of copies that move `bytes` each, both directions together.
[[nodiscard]] inline Experiment described(double bytes) {
  const Value device = number(&Seconds::device);
  const Value caller = number(&Seconds::caller);
  const auto rate = [bytes](const Value& seconds) {
    return [=](const Sample& sample) { return bytes / seconds(sample); };
  };
  return {.rows = {{"transfer_time", "s", By::whole, device},
                   {"transfer_time", "s", "wall", caller},
                   {"bandwidth", "B/s", By::whole, rate(device)},
                   {"bandwidth", "B/s", "wall", rate(caller)}},
          .checks = {TimerPair{device, By::whole, caller, "wall", same_from_seconds}},
          .has_clock = false};
}

}  // namespace strata::copy_times
