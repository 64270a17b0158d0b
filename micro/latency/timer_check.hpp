// Do this machine's timers agree? A dependent chain of 4-byte loads that hit the first level has
// one cost per load, however it is timed.
//
// One lane loads 4 bytes: less than a cycle faster than the chains of latency_vs_footprint (one
// lane, 8 bytes), and three faster than load_l1 of instruction_cost (32 lanes, 8 bytes each).
// Each loaded word is the address of the next load. Reading the clock, the launch and the first
// touch cancel in the slope between a short and a long chain.
#pragma once

#include "harness/cuda/benchmark.cuh"
#include "micro/latency/pointer_chase.hpp"
#include "micro/pattern/random_cycle.hpp"

namespace strata::timer_check {

/// Words in the chain: 4 KiB of 4-byte words, inside any L1.
inline constexpr unsigned slots = 1024;
/// In which the chain visits them.
inline std::vector<std::uint32_t> order_of_slots() {
  return random_order(slots, /*seed=*/4);
}

inline Benchmark declare() {
  return {.suite = "micro",
          .name = "timer_check",
          .question = "Do the timers agree on a dependent chain of loads that hit L1?",
          .axes = {listed_axis("residency", "the level that holds the chain", {"l1"})},
          .quantities = {{"load_cycles", "cycles of one dependent load, by each timer"},
                         {"core_clock", "clock of the core during the reads"}},
          .seconds_per_case = 0.05,
          .excludes = {}};
}

/// Chains of `brief` and of `full` loads from step 0, which must end with `word_at(loads)`.
inline Experiment described(std::uint32_t brief, std::uint32_t full,
                            const std::function<std::uint64_t(std::uint32_t step)>& word_at) {
  using pointer_chase::length_of;
  Experiment experiment;
  experiment.slopes = {
      {.verify = results_are([word_at](const Call& call) { return word_at(call.length.rounds); }),
       .lengths = {.brief = length_of(brief), .full = length_of(full)},
       .writers = 1}};
  add_both(experiment, "load_cycles", "cycle");
  experiment.checked = "chain ends against the cycle";
  experiment.checks.emplace_back(Dependence{"ends of chains", {}});
  experiment.unproved = {.gate = "level"};
  return experiment;
}

}  // namespace strata::timer_check
