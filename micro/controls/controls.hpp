// Experiments with one deliberate mistake each: does a gate notice?
//
// A chain of loads and a read of an array are measured like any benchmark, through the engine; the
// mistake is a line of the kernel or of the description. Without it, the gate that is meant for it
// must pass; with it, that gate must fail (see harness/run/selftest.hpp). They belong to the
// suite `controls`: no list, sweep or run contains them, only `strata selftest`.
#pragma once

#include "harness/case/choices.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/device_facts.hpp"

#include <cstdint>

namespace strata::controls {

[[nodiscard]] Benchmark declare();

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

/// In L1; in L2, as much as either half holds; or more than one half holds, for that mistake.
[[nodiscard]] Chain chain_for(Subject subject, Mistake mistake, std::uint64_t l2_bytes);

/// The slot where a launch begins: different for each launch, so that its end shows it.
[[nodiscard]] std::uint32_t first_slot(const Chain& chain, Mistake mistake, const Call& call);

/// A chain as the engine measures it, except the launch; a stamp's result is the last slot.
[[nodiscard]] Experiment describe_chain(const Chain& chain, Subject subject, Mistake mistake);

/// How the SMs traverse the array: each in rounds of `tile` bytes over a separate piece.
struct Reads {
  static constexpr std::uint32_t threads = 1024;
  static constexpr std::uint32_t tile = threads * 16;
  std::uint32_t sms = 0;
  std::uint32_t rounds_of_piece = 0;
  std::uint32_t pieces = 0;  ///< 1: all SMs read the same
  std::uint64_t kept = 0;    ///< the part of it that fits into L2
  [[nodiscard]] std::uint64_t bytes() const {
    return std::uint64_t{pieces} * rounds_of_piece * tile;
  }
};
/// Reads from memory long enough that a launch takes many steps of the timer that all SMs share.
[[nodiscard]] Reads reads_for(Subject subject, Mistake mistake, const GpuFacts& gpu);

/// Reads as the engine measures them, except the launch; the results of all SMs are summed.
[[nodiscard]] Experiment describe_reads(const Reads& reads, Subject subject, Mistake mistake);

}  // namespace strata::controls
