// What the benchmarks that time copies share: how many make up a sample, and what is reported.
#pragma once

#include "harness/measure/experiment.hpp"
#include "harness/measure/machine.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace strata::copy_times {

inline constexpr double wanted_seconds = 5e-4;  // of a sample

/// From here on the events around a copy and the caller's clock time the same thing: the cost of
/// the calls and of waiting, some ten microseconds, is less than half of what the timer gate
/// allows.
inline constexpr double same_from_seconds = 2e-3;

/// Whether what takes `least_seconds` may be over so soon that calls and events count beside it.
[[nodiscard]] constexpr bool is_brief(double least_seconds) {
  return least_seconds < wanted_seconds;
}

/// How many copies one after the other, each waited for, make up a sample: enough to last half a
/// millisecond, and three where one does.
[[nodiscard]] inline std::uint32_t copies_per_sample(double least_seconds) {
  constexpr double for_a_middle = 3;
  return static_cast<std::uint32_t>(
      std::max(for_a_middle, std::floor(wanted_seconds / least_seconds)));
}

/// The numbers of a sample: seconds of a copy on the device and for its caller, each the middle of
/// `copies` (middle_mean). A brief one is made once more for its caller, without the recording of
/// events and what holds it back.
[[nodiscard]] inline std::vector<double> numbers_of(std::uint32_t copies, bool brief,
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
  return {middle_mean(device), middle_mean(walls)};
}

/// The rows of copies that move `bytes` each, both directions together.
[[nodiscard]] inline Experiment described(double bytes) {
  const Value device = number_at(0);
  const Value caller = number_at(1);
  const auto rate = [bytes](const Value& seconds) {
    return [=](const Sample& sample) { return bytes / seconds(sample); };
  };
  Experiment experiment;
  experiment.rows = {{"transfer_time", "s", By::whole, device},
                     {"transfer_time", "s", "wall", caller},
                     {"bandwidth", "B/s", By::whole, rate(device)},
                     {"bandwidth", "B/s", "wall", rate(caller)}};
  experiment.timers = {{device, By::whole, caller, "wall", same_from_seconds}};
  experiment.watch = {device, caller};
  experiment.has_clock = false;
  return experiment;
}

}  // namespace strata::copy_times
