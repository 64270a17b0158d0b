// What does each operation of an SM cost: how long until its result can be used, and how many can
// be done in a cycle?
//
// Chains of one operation, each step needing the one before it. One warp with one chain pays the
// whole latency for each; many warps with several chains each hide it, until the unit that does the
// operation can take no more. After Breitbart 2008, Table 2.2.
//
// Inside the number that is not the operation: the instructions that close a loop, and the register
// file: a multiply-add reads three registers, of which two banks give one each a cycle, so that
// many warps of one chain pay for the bank that has two of them. Chains side by side share operands
// (the reuse cache) and do not. Reading the clock, starting and fetching instructions are outside:
// every number is a slope.
#pragma once

#include "harness/case/benchmark.hpp"
#include "micro/compute/host_operations.hpp"
#include "micro/compute/operations.hpp"

namespace strata::instruction_cost {

[[nodiscard]] Benchmark declare();

inline constexpr unsigned max_warps_per_sm = 32;  ///< one block, so that a barrier joins them all
inline constexpr unsigned max_host_ilp = host_operations::most_chains;
/// One to warm up, then one, two and four times as long.
inline constexpr unsigned passes = 4;
inline constexpr unsigned rounds_of_all_passes = 1 + 2 + 4;  ///< the first is always one round

/// A stamp's mark where a pass begins, ended by the next; the last pass comes first: nanoseconds
/// are around it.
[[nodiscard]] STRATA_HD constexpr unsigned mark_of(unsigned pass) {
  return 2 * (passes - 1 - pass);
}

/// Why there is no kernel with so many chains of an operation side by side, or null.
[[nodiscard]] constexpr const char* why_not(operations::Space space, unsigned ilp) {
  const bool alone = space == operations::Space::barrier && ilp != 1;
  return alone ? "a barrier stops the whole warp: nothing can run beside it" : nullptr;
}

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

/// A launch leaves the first warp's `ends`. Unit of work: an operation of a warp, on one SM.
[[nodiscard]] Experiment describe(const operations::Shape& shape, const GpuFacts& gpu,
                                  std::span<const std::uint64_t> ends);
/// On a CPU: slopes of dependent additions and of `ilp` chains. Unit of work: one operation.
[[nodiscard]] Experiment describe_host(unsigned ilp);

}  // namespace strata::instruction_cost
