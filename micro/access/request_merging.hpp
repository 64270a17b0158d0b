// Which loads of several SMs does L2 answer as one, and does a load that is answered so come
// sooner?
//
// Between the SMs of a GPC and L2 stands a unit that NVIDIA calls the L2 request coalescer: loads
// of several SMs for one sector that are close enough in time reach L2 as one, and its answer goes
// to all of them. The blocks of one cluster, which lie in one GPC, have an SM each. Round after
// round they meet at the cluster's barrier; then the first loads a line that no SM has asked for in
// this launch, and the others load the same line `delay` cycles later. Loads bypass L1
// (ld.global.cg). What is counted at L2 over what missed L1 is what is left of the requests. Inside
// the time of a load: two readings of the clock. Inside the delay: how far apart the barrier lets
// SMs go, and the steps of a loop that reads the clock until it is time.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/word_patterns.hpp"

#include <cstdint>

namespace strata::request_merging {

[[nodiscard]] Benchmark declare();

inline constexpr std::uint32_t lanes = 32;  ///< a warp of each SM loads a line, four sectors of it
inline constexpr std::uint32_t sectors_of_line = 4;
/// Rounds of the long launch, each with a line of its own: 128 KiB, far inside L2.
inline constexpr std::uint32_t rounds = 1000;
/// Cycles from the barrier to the first load, which the last SM to leave it has left by then.
inline constexpr std::uint32_t lead = 400;

/// What the lines hold; a load waits for a word that is not 2^32 - 1.
inline constexpr HashedWords words{.mask = 0x7FFFFFFFU};
/// The sum of the words of the first `count` lines.
[[nodiscard]] std::uint32_t sum_of_lines(std::uint32_t count);

/// Marks of a stamp behind the two of the launch: cycles of all loads, and from the barriers to
/// them. The tag is the rank of the block in its cluster: 0 is the first to load.
inline constexpr unsigned load_mark = 2;
inline constexpr unsigned wait_mark = 3;

/// The case, but for the launch.
[[nodiscard]] Experiment describe(std::uint32_t sms, std::uint32_t delay);

}  // namespace strata::request_merging
