// What does it cost to launch a kernel?
//
// The kernel has one thread that writes one word, a different one in each launch, and all are
// checked. `stream`: launches one after the other into a stream, waiting at the end. `graph`: the
// same launches recorded into a graph, which is launched once. `synchronised`: every launch is
// waited for before the next one.
//
// The cost of a launch is the slope between few and many of them, so that the wait at the end, the
// events and the launch of the graph cancel: on the device and for its caller, and of the calls
// alone, which take less if they only queue work. A single launch, from the call to the end of the
// wait, is timed separately, as the middle mean of several. The kernel's own time, about a
// microsecond, is included in every number except that of the calls.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/measure/machine.hpp"

#include <cstdint>
#include <vector>

namespace strata::launch_overhead {

[[nodiscard]] Benchmark declare();

enum class How { stream, graph, synchronised };
inline constexpr auto ways = choices_of<How>("stream", "graph", "synchronised");

/// Launches of the short and of the long series: fewer than a stream can hold before a call blocks
/// (about a thousand).
inline constexpr std::uint32_t few = 100;
inline constexpr std::uint32_t many = 600;

/// The word that launch `launch` writes.
[[nodiscard]] constexpr std::uint32_t token(std::uint32_t launch) {
  return (launch + 1) * 0x9E3779B1U;
}

/// The numbers of a sample: seconds of one more launch on the device, for its caller, and of its
/// call; and of a single launch.
[[nodiscard]] std::vector<double> numbers_of(const BothSides& brief, const BothSides& full,
                                             double alone_seconds);

/// The case as the engine measures it, except its launches.
[[nodiscard]] Experiment describe(How how);

}  // namespace strata::launch_overhead
