// What does it cost to start a kernel?
//
// The kernel has one thread that writes one word, so that its work is next to nothing; each launch
// writes a word of its own, and all are checked. `stream`: launches one after the other into a
// stream, waited for at the end. `graph`: the same launches recorded into a graph, which is
// launched once. `synchronised`: every launch is waited for before the next one.
//
// A launch's cost is the slope between few and many of them, so that the wait at the end, the
// events and the launch of the graph cancel. What it costs to have one launch done, from the call
// to the end of the wait, is timed by itself: the middle of some that are each alone. What the
// device and its caller see is the same stretch of time; what the calls alone take is less where
// they only queue work. The kernel's own work, about a microsecond from its start to its end, is
// inside all but the calls.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"

#include <cstdint>

namespace strata::launch_overhead {

[[nodiscard]] Benchmark declare();

enum class How { stream, graph, synchronised };
[[nodiscard]] How how_of(const Session& session);

/// Launches of the short and of the long series. Fewer than a stream holds before a call waits
/// for room (about a thousand), so that a call is timed and not the device's progress.
inline constexpr std::uint32_t few = 100;
inline constexpr std::uint32_t many = 600;

/// Launches that are timed each alone, in a sample.
inline constexpr std::uint32_t alone = 20;

/// The word that launch `launch` writes.
[[nodiscard]] constexpr std::uint32_t token(std::uint32_t launch) {
  return (launch + 1) * 0x9E3779B1U;
}

/// Seconds of one series.
struct Series {
  double event = 0;  ///< on the device, from before the first launch to the end of the last
  double wall = 0;   ///< for the caller, from the first call to the end of the wait
  double calls = 0;  ///< of the calls that launch, without the wait at the end
};

/// Of one launch: by the slope of two series, and alone.
struct Observation {
  double event_seconds = 0;
  double wall_seconds = 0;
  double call_seconds = 0;
  double alone_seconds = 0;
};
/// All but what a launch costs alone.
[[nodiscard]] Observation observation_of(const Series& brief, const Series& full);

/// Adds the quantities and the timer gate.
void report(Session& session, const Collection<Observation>& seen, How how);

}  // namespace strata::launch_overhead
