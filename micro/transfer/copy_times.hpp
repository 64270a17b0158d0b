// What every benchmark that times copies shares: how many make up a sample, and what is reported.
#pragma once

#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"
#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

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

/// The middle of the copies of a sample (middle_mean).
struct Observation {
  double event_seconds = 0;
  double wall_seconds = 0;
};

/// Adds the times and the bandwidths, and the timer gate where both time the same. `bytes`: moved
/// by a copy, both directions together.
inline void report(Session& session, const Collection<Observation>& seen, double bytes) {
  const Timed timed{session, seen};
  timed.add("transfer_time", "s", "event", &Observation::event_seconds);
  timed.add("transfer_time", "s", "wall", &Observation::wall_seconds);
  timed.add("bandwidth", "B/s", "event",
            [bytes](const Observation& one) { return bytes / one.event_seconds; });
  timed.add("bandwidth", "B/s", "wall",
            [bytes](const Observation& one) { return bytes / one.wall_seconds; });
  if (median(seen.series(&Observation::event_seconds)) >= same_from_seconds) {
    timed.timers(&Observation::event_seconds, "event", &Observation::wall_seconds, "wall");
  }
}

}  // namespace strata::copy_times
