// How long does a dependent load take, as the data that it walks through grow from a kibibyte to
// the whole memory?
//
// One thread follows a chain: every loaded word says where the next one is, in random order over
// all slots of the footprint, and nothing but loads is inside the number. Each level of the
// hierarchy shows as a step of the curve. The state is that of an endless walk: what fits into L1
// was walked once by the same thread, and what might partly stay in L2 was read twice by the same
// SM, in the order of the walk. An endless walk over several L2s finds nothing there: of a
// footprint of more than four L2s only the links that will be loaded are written, all are evicted,
// and its pages have been visited (the fact starts_from: "a lap" or "evicted").
//
// The words that are loaded are the next addresses themselves, 64 bits wide in global memory, since
// 64 GiB have no 32-bit addresses; 32 bits wide in shared memory, and indices where the load itself
// adds the base (constant memory, textures).
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

/// How the chain is loaded: a window of memory, and for global memory the caches that may hold it.
enum class Space {
  global_ca,
  global_cg,
  global_nc,
  shared,
  constant,
  texture,
  mapped,
  memory,
};
inline constexpr Choices spaces{
    std::pair{"global_ca", Space::global_ca}, std::pair{"global_cg", Space::global_cg},
    std::pair{"global_nc", Space::global_nc}, std::pair{"shared", Space::shared},
    std::pair{"constant", Space::constant},   std::pair{"texture", Space::texture},
    std::pair{"mapped", Space::mapped},       std::pair{"memory", Space::memory}};

/// Device memory, by loads that the counters of global loads see.
[[nodiscard]] constexpr bool is_global(Space space) {
  return space == Space::global_ca || space == Space::global_cg || space == Space::global_nc;
}
inline constexpr std::uint64_t least_footprint = 1024;
inline constexpr std::uint64_t most_footprint = std::uint64_t{64} << 30U;
inline constexpr std::uint64_t most_constant = 64U << 10U;  ///< CUDA has no more
inline constexpr std::uint64_t most_shared = 256U << 10U;   ///< more than any SM has to date
inline constexpr std::uint64_t most_texture = 512U << 20U;  ///< 2^27 elements of 4 bytes
inline constexpr std::uint64_t most_mapped = 256U << 20U;
inline constexpr std::uint64_t most_host = 1024U << 20U;
/// On the host footprints above this are powers of two: writing a long chain takes one core long.
inline constexpr std::uint64_t most_dense_host = 256U << 20U;

/// What is done before the clock is read, and how much of the chain is written.
struct Preparation {
  std::uint64_t links = 0;       ///< of the cycle's, from its first step on
  std::uint32_t warm_loads = 0;  ///< of the walk itself, right before the clock
  bool cold = false;             ///< nothing of the footprint may be in L2: far larger than it
};
/// For a footprint of `slots` slots in an L2 of `l2_bytes` bytes, walked by `cores` cores.
[[nodiscard]] Preparation preparation_for(Space space, std::uint64_t footprint, std::uint64_t slots,
                                          std::uint64_t l2_bytes, std::uint64_t cores);

/// How a walk begins, in words: "a lap", "evicted", or "as it is" (host memory, and what stays on
/// the chip).
[[nodiscard]] std::string_view to_string(Space space, const Preparation& preparation);

/// A case on a GPU.
struct Setup {
  Space space{};
  std::uint64_t footprint = 0;
  PermutedChain chain;  ///< from address 0 on
  unsigned cores = 1;   ///< that walk
  Preparation preparation;

  /// What the word holds that is loaded at a step: an address, or an index of a texture's elements.
  [[nodiscard]] std::uint64_t word_at(std::uint64_t step) const {
    const std::uint64_t address = chain.address_at(step);
    return space == Space::texture ? address / sizeof(std::uint32_t) : address;
  }
};
[[nodiscard]] Setup setup_for(Space space, bool several, std::uint64_t stride,
                              std::uint64_t footprint, const GpuFacts& gpu);
/// The setup must live as long as the chase.
[[nodiscard]] pointer_chase::Chase chase_of(const Setup& setup);
[[nodiscard]] Experiment describe(pointer_chase::Chase& chase, const Setup& setup,
                                  const GpuFacts& gpu);

}  // namespace strata::latency_vs_footprint
