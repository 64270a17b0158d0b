// How long does a dependent load take as its footprint grows from a kibibyte to the whole memory?
//
// One thread follows a chain in random order over all slots of the footprint. Every loaded word is
// the next address (an index if the load itself adds the base), so the number contains only loads.
// Each level is a step of the curve. The state is that of an endless chase, which finds nothing in
// the caches beyond several L2s (Preparation).
#pragma once

#include "harness/case/octaves.hpp"
#include "harness/cuda/benchmark.cuh"
#include "micro/latency/pointer_chase.hpp"
#include "micro/pattern/permuted_chain.hpp"

#include <string_view>

namespace strata::latency_vs_footprint {

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

constexpr std::uint64_t least_of_several = 8U << 20U;

inline std::uint64_t most_bytes(Space space) {
  if (space == Space::shared) return 256U << 10U;  // more than any SM has to date
  if (space == Space::constant) return most_constant;
  if (space == Space::texture) return 512U << 20U;  // 2^27 elements of 4 bytes
  if (space == Space::mapped) return most_mapped;
  return space == Space::memory ? 1024U << 20U : most_footprint;
}

inline std::optional<std::string> excluded(const Params& params, Backend backend) {
  const Space space = spaces.of(params.at("space"));
  if ((space == Space::memory) != (backend == Backend::host)) {
    return "a GPU has several address spaces, a CPU has one";
  }
  if (params.at("cores") != "one" && !is_global(space)) {
    return "several cores share device memory, and read it with plain loads";
  }
  const auto footprint = number_of<std::uint64_t>(params, "footprint");
  const auto stride = number_of<std::uint64_t>(params, "stride");
  if (params.at("cores") != "one" && footprint < least_of_several) {
    return "L2 answers loads of several cores as one where they meet on so few lines";
  }
  if (footprint % stride != 0 || footprint < 2 * stride) {
    return "the footprint is not a multiple of the stride, or has fewer than two slots";
  }
  if (footprint > most_bytes(space)) return "the footprint exceeds the address space";
  // A single core takes long to write a long chain.
  constexpr std::uint64_t most_dense_host = 256U << 20U;
  if (space == Space::memory && footprint > most_dense_host && !std::has_single_bit(footprint)) {
    return "large footprints are powers of two on the host";
  }
  return std::nullopt;
}

inline Benchmark declare() {
  return {
      .suite = "micro",
      .name = "latency_vs_footprint",
      .question =
          "How long does a dependent load take as its footprint grows from L1 to all of memory?",
      .axes = {spaces.axis("space", "address space and caches through which the chain is loaded"),
               listed_axis("cores", "one SM or all SMs, each with one load in flight",
                           {"one", "several"}, {"one"}),
               listed_axis("stride", "bytes from slot to slot",
                           {"32", "64", "128", "256", "512", "1024", "2048", "4096"}, {"128"}),
               number_axis("footprint", "footprint of the chain in bytes", least_footprint,
                           most_footprint,
                           texts_of(octaves(least_footprint, most_footprint, /*per_octave=*/8,
                                            /*multiple=*/128)))},
      .data_axes = 1,
      .quantities =
          {{"load_cycles", "cycles of one dependent load; median over SMs"},
           {"load_time", "the same in seconds"},
           {"load_cycles_nearest", "cycles on the fastest SM"},
           {"load_cycles_farthest", "cycles on the slowest SM"},
           {"core_clock", "clock of the core during the reads"},
           {"footprint_over_l2", "footprint ÷ L2 size that the driver reports"},
           {"footprint_over_shared_memory",
            "footprint ÷ shared memory per SM that the driver reports"},
           {"walked_before", "1: the chain was read completely before; 0: all of it was evicted"},
           {"l1_hit_share", "share of L1 sector lookups that hit"},
           {"l2_hit_share", "share of L2 sector lookups that hit in the half that was requested"},
           {"l2_missed_sectors_per_load",
            "share of sectors that missed in the half that was requested and were fetched"},
           {"dram_share", "bytes read from memory ÷ bytes that L2 would fetch for all"},
           {"dram_far_share", "share fetched from memory behind the other half of L2"}},
      .seconds_per_case = 0.015,
      .excludes = excluded};
}

/// "a lap", "evicted", or "as it is" (host memory, and on-chip memory).
inline std::string_view to_string(Space space, const Preparation& preparation) {
  if (!is_global(space) && space != Space::texture) return "as it is";
  return preparation.cold ? "evicted" : "a lap";
}

}  // namespace strata::latency_vs_footprint
