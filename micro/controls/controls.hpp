// Experiments that are wrong on purpose, each in one thing: would a gate notice?
//
// A chain of loads and a read of an array are measured as any benchmark is, through the engine; the
// mistake is a line of the kernel or of the description. Without it the gate that it is meant for
// must pass, with it that gate must fail (harness/run/selftest.hpp says which). They are of the
// suite `controls`: no list, no sweep and no run has them, `strata selftest` alone.
#pragma once

#include "harness/case/choices.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/device_facts.hpp"

#include <cstdint>

namespace strata::controls {

[[nodiscard]] Benchmark declare();

/// What is measured where there is no mistake.
enum class Subject {
  chain,       ///< dependent loads that L1 serves
  l2_chain,    ///< the same, of one SM, past L1
  l2_reads,    ///< every SM reads a piece of its own that is in L2
  dram_reads,  ///< the same of an array that was evicted
};
inline constexpr auto subjects = choices_of<Subject>("chain", "l2_chain", "l2_reads", "dram_reads");

enum class Mistake {
  none,
  folded_dependency,    ///< each load is timed by itself, and no load needs the last one
  optimised_away,       ///< nobody needs what is loaded, so the compiler loads nothing
  other_sample,         ///< a launch of another case stands for this one
  two_clocks,           ///< the core ran at half its clock in the short launch
  clock_32,             ///< the low half of the clock, in a launch that takes longer than it lasts
  spilled,              ///< the kernel keeps more than its registers hold
  near_l2_as_far,       ///< hits of the near half of L2 are said to cross to the other half
  far_l2_as_near,       ///< more than a half of L2 holds is said to be hit in the near one
  merged_requests,      ///< all SMs ask for the same sectors at once
  warm_l2_as_dram,      ///< the array is in L2 when the launch begins
  persisting_carve_out  ///< the array is in the part of L2 that no eviction reaches
};
inline constexpr auto mistakes =
    choices_of<Mistake>("none", "folded_dependency", "optimised_away", "other_sample", "two_clocks",
                        "clock_32", "spilled", "near_l2_as_far", "far_l2_as_near",
                        "merged_requests", "warm_l2_as_dram", "persisting_carve_out");

inline constexpr std::uint32_t unroll = 16;  ///< lengths of walks are multiples of it

/// A chain in which slot i leads to slot i + step: a cycle over all slots, whose addresses can be
/// had without loading them. That is what a folded dependency comes to.
struct Chain {
  std::uint32_t slots = 512;  ///< a multiple of unroll, and none of the step
  std::uint32_t stride = 8;   ///< bytes from a slot to the next
  std::uint32_t step = 193;   ///< a prime

  [[nodiscard]] constexpr std::uint32_t slot_after(std::uint32_t first, std::uint32_t loads) const {
    return static_cast<std::uint32_t>((first + std::uint64_t{loads} * step) % slots);
  }
};

/// In L1; in L2, as much as either half holds; or more than one half does, where that is the
/// mistake.
[[nodiscard]] Chain chain_for(Subject subject, Mistake mistake, std::uint64_t l2_bytes);

/// The slot where a launch begins: another one for each, which its end then shows.
[[nodiscard]] std::uint32_t first_slot(const Chain& chain, Mistake mistake, const Call& call);

/// A chain as the engine measures it, but for the launch; a stamp's result is the last slot.
[[nodiscard]] Experiment describe_chain(const Chain& chain, Subject subject, Mistake mistake);

/// How the SMs go over the array: each in rounds of `tile` bytes over a piece of its own.
struct Reads {
  static constexpr std::uint32_t threads = 1024;
  static constexpr std::uint32_t tile = threads * 16;
  std::uint32_t sms = 0;
  std::uint32_t rounds_of_piece = 0;
  std::uint32_t pieces = 0;  ///< 1: all SMs read the same
  std::uint64_t kept = 0;    ///< bytes of it that L2 has room for
  [[nodiscard]] std::uint64_t bytes() const {
    return std::uint64_t{pieces} * rounds_of_piece * tile;
  }
};
/// From memory so much that a launch takes many steps of the timer that all SMs share.
[[nodiscard]] Reads reads_for(Subject subject, Mistake mistake, const GpuFacts& gpu);

/// Reads as the engine measures them, but for the launch; the results of all SMs add up.
[[nodiscard]] Experiment describe_reads(const Reads& reads, Subject subject, Mistake mistake);

}  // namespace strata::controls
