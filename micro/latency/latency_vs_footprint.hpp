// How long does a dependent load take as its footprint grows from a kibibyte to the whole memory?
//
// One thread follows a chain in random order over all slots of the footprint. Every loaded word is
// the next address (an index if the load itself adds the base), so the number contains only loads.
// Each level is a step of the curve. The state is that of an endless chase, which finds nothing in
// the caches beyond several L2s (Preparation).
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/latency/pointer_chase.hpp"
#include "micro/pattern/permuted_chain.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace strata::latency_vs_footprint {

[[nodiscard]] Benchmark declare();

/// How the chain is loaded: an address space, and for global memory the caches that may hold it.
enum class Space { global_ca, global_cg, global_nc, shared, constant, texture, mapped, memory };
inline constexpr auto spaces = choices_of<Space>("global_ca", "global_cg", "global_nc", "shared",
                                                 "constant", "texture", "mapped", "memory");

/// Device memory, by loads that the counters of global loads count.
[[nodiscard]] constexpr bool is_global(Space space) {
  return space == Space::global_ca || space == Space::global_cg || space == Space::global_nc;
}
inline constexpr std::uint64_t least_footprint = 1024;
inline constexpr std::uint64_t most_footprint = std::uint64_t{64} << 30U;
inline constexpr std::uint64_t most_constant = 64U << 10U;  ///< the maximum in CUDA
inline constexpr std::uint64_t most_mapped = 256U << 20U;

/// A chain that fits into L1 is read once before the clock is read; one that may partly stay in L2
/// is read twice in its order; beyond four L2s everything is evicted, and the pages are visited.
struct Preparation {
  std::uint64_t links = 0;       ///< of the cycle, from its first step
  std::uint32_t warm_loads = 0;  ///< of the chase itself, right before the clock
  bool cold = false;             ///< nothing of the footprint may be in L2: far larger than L2
};
[[nodiscard]] Preparation preparation_for(Space space, std::uint64_t footprint, std::uint64_t slots,
                                          std::uint64_t l2_bytes, std::uint64_t cores);

/// "a lap", "evicted", or "as it is" (host memory, and on-chip memory).
[[nodiscard]] std::string_view to_string(Space space, const Preparation& preparation);

/// A case on a GPU.
struct Setup {
  Space space{};
  std::uint64_t footprint = 0;
  PermutedChain chain;  ///< from address 0 on
  unsigned cores = 1;   ///< that walk
  Preparation preparation;
};
[[nodiscard]] Setup setup_for(Space space, bool several, std::uint64_t stride,
                              std::uint64_t footprint, const GpuFacts& gpu);
/// The setup must live as long as the chase.
[[nodiscard]] pointer_chase::Chase chase_of(const Setup& setup);
[[nodiscard]] Experiment describe(pointer_chase::Chase& chase, const Setup& setup,
                                  const GpuFacts& gpu);

}  // namespace strata::latency_vs_footprint
