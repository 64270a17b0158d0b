// What does each operation of an SM cost: how long until its result can be used, and how many can
// be done in a cycle?
//
// Chains of one operation, each step needing the one before it. One warp with one chain pays the
// whole latency for each; many warps with several chains each hide it, until the unit that does the
// operation can take no more. After Breitbart 2008, Table 2.2.
//
// Inside the number that is not the operation: the instructions that close a loop, three or four
// and a branch for every `operations::…::body` of it. The cost of reading the clock, of starting
// and of fetching instructions for the first time is outside: every number is a slope.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"
#include "micro/compute/host_operations.hpp"
#include "micro/compute/operations.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::instruction_cost {

[[nodiscard]] Benchmark declare();

inline constexpr unsigned max_warps_per_sm = 32;  ///< one block, so that a barrier joins them all
inline constexpr unsigned max_ilp = 8;
inline constexpr unsigned max_host_ilp = host_operations::most_chains;
/// One to warm up, then one, two and four times as long.
inline constexpr unsigned passes = 4;
inline constexpr unsigned rounds_of_all_passes = 1 + 2 + 4;  ///< the first is always one round

/// Rounds of the shortest timed pass, for a launch of about `cycles` cycles.
[[nodiscard]] std::uint32_t rounds_for(double cycles, double cycles_of_a_round);

/// Cycles of the passes that are one, two and four times as long, on one SM: from its first warp's
/// start to its last one's end.
struct Passes {
  std::array<double, passes - 1> cycles{};
  /// Cycles of one pass of length one, without what every pass costs beside.
  [[nodiscard]] double slope() const { return (cycles[2] - cycles[0]) / 3; }
  /// By how much the middle pass differs from the line through the other two.
  [[nodiscard]] double bend() const { return cycles[1] - (cycles[0] + slope()); }
};

struct Observation {
  double inside = 0;   ///< cycles of an operation of a warp on an SM; median of all SMs
  double outside = 0;  ///< the same by events
  double bend = 0;     ///< cycles; median of all SMs
  double operations_per_second = 0;  ///< of all threads of the chip
  double core_hertz = 0;
};

/// `model`: chains of n, 2n and 4n operations cost in proportion, within a cycle.
[[nodiscard]] Gate linear_gate(std::span<const double> bends, std::uint64_t operations);

/// Adds the measurements and gates. `dependent`: one chain on one warp, whose length must show.
void report(Session& session, const Collection<Observation>& seen,
            std::optional<std::uint64_t> dependent);

}  // namespace strata::instruction_cost
