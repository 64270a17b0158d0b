// Experiments with one deliberate mistake each: does a gate notice?
//
// A chain of loads and a read of an array are measured like any benchmark, through the engine; the
// mistake is a line of the kernel or of the description. Without it, the gate that is meant for it
// must pass; with it, that gate must fail (see harness/run/selftest.hpp). They belong to the
// suite `controls`: no list, sweep or run contains them, only `strata selftest`.
#pragma once

#include "harness/case/controls.hpp"
#include "harness/cuda/benchmark.cuh"

#include <memory>

namespace strata::controls {

/// What is measured without a mistake.
enum class Subject {
  chain,       ///< dependent loads that hit in L1
  l2_chain,    ///< the same, of one SM, past L1
  l2_reads,    ///< every SM reads a separate piece that is in L2
  dram_reads,  ///< the same of an array that was evicted
};
inline constexpr auto subjects = choices_of<Subject>("chain", "l2_chain", "l2_reads", "dram_reads");

enum class Mistake {
  none,
  folded_dependency,    ///< each load is timed by itself, and nothing waits for it
  optimised_away,       ///< the loaded value is unused, so the compiler removes the load
  other_sample,         ///< a launch of another case replaces this one
  two_clocks,           ///< the core ran at half its clock in the short launch
  clock_32,             ///< the low half of the clock, in a launch that outlasts it
  spilled,              ///< the kernel needs more registers than it has
  near_l2_as_far,       ///< hits of the near half of L2 are claimed to cross to the other half
  far_l2_as_near,       ///< data larger than half of L2 are claimed to hit in the near half
  merged_requests,      ///< all SMs request the same sectors at once
  warm_l2_as_dram,      ///< the array is in L2 when the launch begins
  persisting_carve_out  ///< the array is in the part of L2 that eviction does not reach
};
inline constexpr auto mistakes =
    choices_of<Mistake>("none", "folded_dependency", "optimised_away", "other_sample", "two_clocks",
                        "clock_32", "spilled", "near_l2_as_far", "far_l2_as_near",
                        "merged_requests", "warm_l2_as_dram", "persisting_carve_out");

inline constexpr std::uint32_t unroll = 16;  ///< lengths of walks are multiples of it

/// A chain in which slot i leads to slot i + step: a cycle over all slots, whose addresses can be
/// computed without loading. That is the result of a folded dependency.
struct Chain {
  std::uint32_t slots = 512;  ///< a multiple of unroll, and none of the step
  std::uint32_t stride = 8;   ///< bytes from a slot to the next
  std::uint32_t step = 193;   ///< a prime

  [[nodiscard]] constexpr std::uint32_t slot_after(std::uint32_t first, std::uint32_t loads) const {
    return static_cast<std::uint32_t>((first + std::uint64_t{loads} * step) % slots);
  }
};

inline bool belongs(Subject subject, Mistake mistake) {
  switch (mistake) {
    case Mistake::none:
      return true;
    case Mistake::near_l2_as_far:
    case Mistake::far_l2_as_near:
      return subject == Subject::l2_chain;
    case Mistake::merged_requests:
      return subject == Subject::l2_reads;
    case Mistake::warm_l2_as_dram:
    case Mistake::persisting_carve_out:
      return subject == Subject::dram_reads;
    default:
      return subject == Subject::chain;
  }
}

inline std::optional<std::string> excludes(const Params& params, Backend backend) {
  const Subject subject = subjects.of(params.at("subject"));
  const Mistake mistake = mistakes.of(params.at("mistake"));
  if (!belongs(subject, mistake)) return "the mistake belongs to another subject";
  if (backend == Backend::cuda) return std::nullopt;
  if (subject != Subject::chain) return "no counter distinguishes the levels of a CPU";
  if (mistake == Mistake::spilled || mistake == Mistake::clock_32) {
    return "no gate judges the code and the clock of a CPU benchmark";
  }
  return std::nullopt;
}

/// The window reads the short launch as if its core had run at half the clock.
inline Window across_two_clocks(const Window& window) {
  return {.name = window.name, .read = [window](const Launched& brief, const Launched& full) {
            Launched slow = brief;
            for (Stamp& stamp : slow.stamps)
              stamp.cycles[1] = stamp.cycles[0] + (stamp.cycles[1] - stamp.cycles[0]) / 2;
            return window.read(slow, full);
          }};
}

/// The sum of the cycles of single loads, which the kernel left in mark 2.
inline Window sum_of_single_loads() {
  return {.name = "single loads", .read = [](const Launched& brief, const Launched& full) {
            const auto cycles = [](const Launched& launched) {
              return static_cast<double>(launched.stamps.front().cycles[2]);
            };
            const double of_load =
                (cycles(full) - cycles(brief)) / (full.length.work - brief.length.work);
            return Inside{.cycles = of_load,
                          .slowest = of_load,
                          .low = of_load,
                          .high = of_load,
                          .hertz = median_hertz(full),
                          .cells = {}};
          }};
}

/// Long enough that the low half of the clock wraps around past its start.
inline Lengths longer_than_32_bits(const std::function<Launched(const Length&)>& run) {
  constexpr double cycles = 1.2 * 4294967296.0;
  constexpr std::uint32_t pilot = 4096 * unroll;
  const Stamp stamp = run({.rounds = pilot}).stamps.front();
  const double of_load = static_cast<double>(stamp.cycles[1] - stamp.cycles[0]) / pilot;
  constexpr std::uint32_t unit = 5 * unroll;
  return fifth_and_whole(static_cast<std::uint32_t>(cycles / of_load) / unit * unit, 1);
}

inline Benchmark declare() {
  return {.suite = std::string{controls_suite},
          .name = "control",
          .question = "Is an experiment with a deliberate mistake caught?",
          .axes = {subjects.axis("subject", "what is measured"),
                   mistakes.axis("mistake", "the mistake"),
                   number_axis("repeat", "the same again", 1, 1000, {"1"})},
          .quantities = {{"load_cycles", "cycles of one dependent load, by each timer"},
                         {"bandwidth", "bytes read per second"},
                         {"core_clock", "clock of the core during the work"}},
          .seconds_per_case = 0.05,
          .excludes = excludes};
}

/// The slot where a launch begins: different for each launch, so that its end shows it.
inline std::uint32_t first_slot(const Chain& chain, Mistake mistake, const Call& call) {
  return (mistake == Mistake::other_sample ? 1 : call.salt) % chain.slots;
}

/// A chain as the engine measures it, except the launch; a stamp's result is the last slot.
inline Experiment describe_chain(const Chain& chain, Subject subject, Mistake mistake) {
  // Not a multiple of the slots, so that a walk that did not happen ends elsewhere.
  constexpr std::uint32_t loads = 409 * 5 * unroll;
  // So many that a few hundred stray sectors, as any launch causes, are less than a percent.
  constexpr std::uint32_t counted = 4 * loads;
  Experiment experiment;
  Slope& slope = experiment.slopes.emplace_back();
  slope.verify = results_are([chain](const Call& call) -> std::uint64_t {
    return chain.slot_after(first_slot(chain, Mistake::none, call), call.length.rounds);
  });
  slope.lengths = fifth_and_whole(loads, 1);
  slope.writers = 1;
  if (mistake == Mistake::two_clocks) slope.window = across_two_clocks(slope.window);
  if (mistake == Mistake::folded_dependency) slope.window = sum_of_single_loads();
  if (mistake == Mistake::clock_32) {
    slope.size = longer_than_32_bits;
    experiment.samples = 1;  // a few seconds
    experiment.not_counted = "the mistake is in the clock";
  }
  add_both(experiment, "load_cycles", "cycle");
  experiment.checked = "chain ends against the cycle";
  experiment.unproved = {.gate = "level"};
  if (mistake == Mistake::clock_32) return experiment;
  experiment.counts = CountPlan{
      .length = {.rounds = counted},
      .loads = LoadPrediction{.requests = counted, .sectors = counted},
      .served_by = subject == Subject::chain ? ServedBy::l1 : ServedBy::l2,
      .rows = LoadRows::per_load,
      .reads = double{counted},
      .memory_is_no_proof = true};  // other traffic is as large as that of a single thread
  // L2 fetches two sectors from its other half for each one requested.
  if (mistake == Mistake::near_l2_as_far) {
    constexpr double roughly = 0.5;
    experiment.counts->expected = {
        {.quantity = "l2_fabric_sectors", .predicted = 2.0 * counted, .bound = roughly}};
  }
  return experiment;
}

}  // namespace strata::controls
