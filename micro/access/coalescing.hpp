// How many sectors does a warp-load move, and what does it cost, for each pattern of addresses?
//
// Every warp of a full chip reads windows of an array from L2, all lanes by one load at a time; the
// pattern says which element of the window each lane reads. The loads bypass L1 (ld.global.cg), so
// each asks L2 for every sector that it touches. No two loads in flight share a window: L2 would
// answer both as one (request_merging). The coalescing model says how many sectors a load asks for;
// the hardware counts them. Inside the time, but issued beside the loads: an integer addition for
// each word read and for each address.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/record/device_facts.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::coalescing {

[[nodiscard]] Benchmark declare();

/// Loads of a warp in one round, all in flight together; each from a window of its own.
inline constexpr std::uint32_t loads_per_round = 4;
/// Warps of an SM. Where loads take many lines, fewer warps have as much in flight.
inline constexpr std::uint32_t most_warps = 32;
inline constexpr std::uint32_t least_warps = 8;
/// Largest stride, misalignment and width of the axes.
inline constexpr std::uint32_t max_stride = 128;
inline constexpr std::uint32_t max_misalignment = 31;
inline constexpr std::uint32_t max_width = 16;

/// The pattern of a case.
struct Pattern {
  std::uint32_t width = 4;                           ///< bytes of an element
  std::array<std::uint64_t, warp_lanes> elements{};  ///< of each lane, from the window's start
};
[[nodiscard]] Pattern pattern_of(const Session& session);
/// One load of it, from a window that starts a line.
[[nodiscard]] WarpAccess load_of(const Pattern& pattern);

/// Where the windows of a pattern lie.
struct Windows {
  std::uint32_t count = 0;  ///< a multiple of loads_per_round
  std::uint32_t bytes = 0;  ///< from one to the next: whole lines, and an odd number of them
  [[nodiscard]] constexpr std::uint64_t size() const { return std::uint64_t{count} * bytes; }
};
/// Warps of an SM, a power of two: as many as have windows of their own in a third of L2, in lines
/// that are read. There is room for a second copy of each line in the other half of L2.
[[nodiscard]] std::uint32_t warps_for(const Pattern& pattern, const GpuFacts& gpu);
/// One window for each load of a round of all warps, as close as they can be. With few windows far
/// apart the fullest slice of L2, another one in each process, would decide how long all take. An
/// L2 that has no room for those of the fewest warps holds fewer, which warps share.
[[nodiscard]] Windows windows_for(const Pattern& pattern, const GpuFacts& gpu);

/// The windows in random order, always the same: load `load` of a round of warp `warp` reads the
/// one at turn_of(warp, load, count). Were they in order, the rate would hang on which SM the
/// hardware gives which block, and that changes from run to run.
[[nodiscard]] std::vector<std::uint32_t> order_of(const Windows& windows);
[[nodiscard]] constexpr std::uint32_t turn_of(std::uint32_t warp, std::uint32_t load,
                                              std::uint32_t windows) {
  return (warp * loads_per_round + load) % windows;
}

/// What the lanes of warp `warp` sum up in one round, weighted by lane_weight.
[[nodiscard]] std::uint32_t expected_sum(const Pattern& pattern, const Windows& windows,
                                         std::span<const std::uint32_t> order, std::uint32_t warp);

/// Rounds of `warps` warps of an SM that take about `cycles`: a load takes an SM at least a cycle
/// for each two sectors, or four.
[[nodiscard]] std::uint32_t rounds_for(double cycles, std::uint64_t sectors, std::uint32_t warps);

/// The case as the engine measures it, but for the launch: unit of work is a warp-load of an SM.
[[nodiscard]] Experiment describe(const Pattern& pattern, const GpuFacts& gpu);

}  // namespace strata::coalescing
