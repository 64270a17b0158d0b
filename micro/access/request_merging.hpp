// Which loads of several SMs does L2 answer as one, and do such loads return sooner?
//
// Between the SMs of a GPC and L2 is a unit that NVIDIA calls the L2 request coalescer: loads of
// several SMs for one sector that are close enough in time reach L2 as one, and its answer goes to
// all of them. The blocks of one cluster, which are in one GPC, run on one SM each. In every round
// they meet at the cluster barrier; then the first loads a line that no SM has requested in this
// launch, and the others load the same line `delay` cycles later. Loads bypass L1 (ld.global.cg).
// The counts at L2 over the misses of L1 are the remaining share of the requests. The time of a
// load includes two clock reads. The delay includes the remaining skew of SMs after the barrier,
// and the steps of a loop that waits for the clock.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/word_patterns.hpp"

#include <cstdint>

namespace strata::request_merging {

[[nodiscard]] Benchmark declare();

inline constexpr std::uint32_t lanes = 32;  ///< a warp of each SM loads a line, four sectors of it
inline constexpr std::uint32_t sectors_of_line = 4;
/// Rounds of the long launch, each with a separate line: 128 KiB, far less than L2.
inline constexpr std::uint32_t rounds = 1000;
/// Cycles from the barrier to the first load; by then the last SM has left the barrier.
inline constexpr std::uint32_t lead = 400;

/// Contents of the lines; a load waits for a word that is not 2^32 - 1.
inline constexpr HashedWords words{.mask = 0x7FFFFFFFU};
/// The sum of the words of the first `count` lines.
[[nodiscard]] std::uint32_t sum_of_lines(std::uint32_t count);

/// Marks of a stamp after the two of the launch: cycles of all loads, and from the barriers to
/// them. The tag is the rank of the block in its cluster: 0 loads first.
inline constexpr unsigned load_mark = 2;
inline constexpr unsigned wait_mark = 3;

/// The case, but for the launch.
[[nodiscard]] Experiment describe(std::uint32_t sms, std::uint32_t delay);

}  // namespace strata::request_merging
