// What does each operation of an SM cost: how long until its result can be used, and how many can
// be done per cycle?
//
// Chains of one operation, where each step needs the previous one. One warp with one chain pays the
// whole latency for each; many warps with several chains each hide it, up to the throughput of the
// unit. After Breitbart 2008, Table 2.2.
//
// The number includes the instructions that close a loop, and the effects of the register file: a
// multiply-add reads three registers, and each of the two banks delivers one per cycle, so that
// many warps of one chain pay for the bank that has two of them. Several chains share operands (the
// reuse cache) and do not. Reading the clock, starting and fetching instructions are not included:
// every number is a slope.
#pragma once

#include "harness/case/benchmark.hpp"
#include "micro/compute/host_operations.hpp"
#include "micro/compute/operations.hpp"

namespace strata::instruction_cost {

[[nodiscard]] Benchmark declare();

inline constexpr unsigned max_warps_per_sm = 32;  ///< one block: a barrier synchronises them all
inline constexpr unsigned max_host_ilp = host_operations::most_chains;
/// One to warm up, then one, two and four times as long.
inline constexpr unsigned passes = 4;
inline constexpr unsigned rounds_of_all_passes = 1 + 2 + 4;  ///< the first is always one round

/// A stamp's mark where a pass begins, which the next one ends; the last pass comes first:
/// nanoseconds are around it.
[[nodiscard]] STRATA_HD constexpr unsigned mark_of(unsigned pass) {
  return 2 * (passes - 1 - pass);
}

/// Why there is no kernel with that many chains of an operation, or null.
[[nodiscard]] constexpr const char* why_not(operations::Space space, unsigned ilp) {
  const bool alone = space == operations::Space::barrier && ilp != 1;
  return alone ? "a barrier stops the whole warp: nothing can run beside it" : nullptr;
}

/// Rounds of the shortest timed pass, for a launch of about `cycles` cycles.
[[nodiscard]] std::uint32_t rounds_for(double cycles, double cycles_of_a_round);

/// Cycles of the passes that are one, two and four times as long, on one SM: from its first warp's
/// start to its last warp's end.
struct Passes {
  std::array<double, passes - 1> cycles{};
  /// Cycles of one pass of length one, without the constant cost of a pass.
  [[nodiscard]] double slope() const { return (cycles[2] - cycles[0]) / 3; }
  /// Distance of the middle pass from the line through the other two.
  [[nodiscard]] double bend() const { return cycles[1] - (cycles[0] + slope()); }
};

/// A launch writes the first warp's `ends`. Per operation of a warp, on one SM.
[[nodiscard]] Experiment describe(const operations::Shape& shape, const GpuFacts& gpu,
                                  std::span<const std::uint64_t> ends);
/// On a CPU: slopes of dependent additions and of `ilp` chains. Per operation.
[[nodiscard]] Experiment describe_host(unsigned ilp);

}  // namespace strata::instruction_cost
