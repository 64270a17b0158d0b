// Do this machine's timers agree? A dependent chain of 4-byte loads that hit the first level has
// one cost per load, however it is timed.
//
// One lane loads 4 bytes: less than a cycle faster than the chains of latency_vs_footprint (one
// lane, 8 bytes), and three faster than load_l1 of instruction_cost (32 lanes, 8 bytes each).
// Each loaded word is the address of the next load. Reading the clock, the launch and the first
// touch cancel in the slope between a short and a long chain.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/experiment.hpp"

#include <cstdint>
#include <functional>

namespace strata::timer_check {

[[nodiscard]] Benchmark declare();

/// Words in the chain: 4 KiB of 4-byte words, inside any L1.
inline constexpr unsigned slots = 1024;

/// Chains of `brief` and of `full` loads from step 0, which must end with `word_at(loads)`.
[[nodiscard]] Experiment describe(std::uint32_t brief, std::uint32_t full,
                                  const std::function<std::uint64_t(std::uint32_t step)>& word_at);
/// On a GPU also by replays of a graph, whose seconds per load are number 0 of a sample.
[[nodiscard]] Experiment describe_gpu(
    const std::function<std::uint64_t(std::uint32_t step)>& word_at);

}  // namespace strata::timer_check
