// How many sectors does a warp-load move, and what does it cost, for each address pattern?
//
// Every warp of a full chip reads windows of an array from L2, with one load of all lanes at a
// time. The pattern determines which element of the window each lane reads. The loads bypass L1
// (ld.global.cg), so each requests every sector that it touches from L2. No two loads in flight
// share a window, because L2 would answer both as one (request_merging). The coalescing model
// predicts the sectors of a load, and the hardware counts them. The time also includes, issued
// beside the loads, an integer addition for each word read and for each address.
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

/// Loads of a warp per round, all in flight together; each from a separate window.
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

/// Positions of the windows of a pattern.
struct Windows {
  std::uint32_t count = 0;  ///< a multiple of loads_per_round
  std::uint32_t bytes = 0;  ///< distance of windows: whole lines, and an odd number of them
  [[nodiscard]] constexpr std::uint64_t size() const { return std::uint64_t{count} * bytes; }
};
/// Warps of an SM, a power of two: as many as have separate windows in a third of L2, counted in
/// the lines that are read. This leaves room for a second copy of each line in the other half of
/// L2.
[[nodiscard]] std::uint32_t warps_for(const Pattern& pattern, const GpuFacts& gpu);
/// One window for each load of a round of all warps, as close together as possible. A few windows
/// far apart would make the fullest slice of L2, which differs between processes, determine the
/// time. If L2 has no room for the windows of the fewest warps, there are fewer windows, which
/// warps share.
[[nodiscard]] Windows windows_for(const Pattern& pattern, const GpuFacts& gpu);

/// The windows in random but fixed order: load `load` of a round of warp `warp` reads window
/// turn_of(warp, load, count). In sequential order, the rate would depend on the assignment of
/// blocks to SMs, which changes between runs.
[[nodiscard]] std::vector<std::uint32_t> order_of(const Windows& windows);
[[nodiscard]] constexpr std::uint32_t turn_of(std::uint32_t warp, std::uint32_t load,
                                              std::uint32_t windows) {
  return (warp * loads_per_round + load) % windows;
}

/// What the lanes of warp `warp` sum up in one round, weighted by lane_weight.
[[nodiscard]] std::uint32_t expected_sum(const Pattern& pattern, const Windows& windows,
                                         std::span<const std::uint32_t> order, std::uint32_t warp);

/// Rounds of `warps` warps of an SM that take about `cycles`: a load takes an SM at least one cycle
/// per two sectors, or four cycles.
[[nodiscard]] std::uint32_t rounds_for(double cycles, std::uint64_t sectors, std::uint32_t warps);

/// The case as the engine measures it, except the launch; per warp-load of an SM.
[[nodiscard]] Experiment describe(const Pattern& pattern, const GpuFacts& gpu);

}  // namespace strata::coalescing
