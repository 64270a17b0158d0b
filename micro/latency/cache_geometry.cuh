// Chases: one thread, alone on its SM. L1 contents do not survive a kernel, so the block's other
// threads first load the chain and exit; the walker goes around once, to leave the cache as an
// endless chase would, and once more to be timed. Chains for L2 are written, evicted and read once
// by the walker's SM: for an L2 in two halves, the result is the size that its SM sees. Neighbours:
// pairs of loads at positions untouched since the kernel began (L1) or since everything was evicted
// (L2).
#pragma once

#include "harness/cuda/access.cuh"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "micro/latency/cache_geometry.hpp"
#include "micro/latency/pointer_chase.cuh"

namespace strata::cache_geometry {

inline constexpr unsigned walk_threads = 256;  // load a chain, then one of them is timed
inline constexpr std::uint64_t constant_line = 64;
inline constexpr std::uint64_t kibi = 1024;

/// The caches that answer: L1 and then L2, or L2 only.
enum class Level { l1, l2 };
constexpr Access access_of(Level level) {
  return level == Level::l1 ? Access::global_ca : Access::global_cg;
}

/// The whole block loads the first `brought` slots, then one thread follows the chain.
template <Level level>
__global__ void __launch_bounds__(walk_threads)
    follow(const __grid_constant__ PermutedChain chain, std::uint64_t brought, std::uint64_t first,
           std::uint32_t warm, std::uint32_t loads, Stamp* stamp, std::uint32_t* sink) {
  std::uint32_t sum = 0;
#pragma unroll 1
  for (std::uint64_t i = threadIdx.x; i < brought; i += blockDim.x)
    sum ^= load_word<access_of(level)>(reinterpret_cast<const void*>(chain.address_of(i)));
  keep_loads(sum, sink);
  __syncthreads();
  if (threadIdx.x != 0) return;
  pointer_chase::timed_walk(chain.address_at(first), warm, loads, stamp,
                            [](std::uint64_t& at) { strata::follow<access_of(level)>(at); });
}

inline constexpr std::uint64_t constant_bytes = 64 * kibi;  // the maximum in CUDA
inline constexpr std::size_t constant_words = constant_bytes / sizeof(std::uint32_t);
static __constant__ std::uint32_t table[constant_words];

/// Words are byte offsets into the table; the load itself adds the table's address.
static __global__ void follow_constant(std::uint32_t begin, std::uint32_t warm, std::uint32_t loads,
                                       Stamp* stamp) {
  pointer_chase::timed_walk(begin, warm, loads, stamp,
                            [](std::uint32_t& at) { at = load_constant(table, at); });
}

/// The trials of one launch: cycles of each second load, 64 bits wide, because ptxas would
/// otherwise read half a clock.
template <Level level>
__global__ void probe(const char* base, const __grid_constant__ Neighbours plan,
                      std::uint64_t* cycles, Stamp* stamp) {
  std::uint32_t sum = 0;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t t = 0; t < plan.places(); ++t) {
    const char* const second = base + plan.second_of(t);
    const std::uint32_t here = load_word<access_of(level)>(base + plan.first_of(t));
    consume(here);
    const std::uint64_t start = cycles_now();
    const std::uint32_t there = load_word<access_of(level)>(second);
    consume(there);
    cycles[t] = cycles_now() - start;
    sum = joined(sum, here, there);
  }
  leave(stamp, begin, reading_after(), sum);
}

/// The same for constant memory, whose first level is small: data of other launches are evicted by
/// reading the upper half of the table, which no trial touches.
static __global__ void probe_constant(const __grid_constant__ Neighbours plan,
                                      std::uint32_t displacing, std::uint32_t zero,
                                      std::uint64_t* cycles, Stamp* stamp) {
  std::uint32_t sum = 0;
  const Reading begin = reading_before();
  std::uint32_t other = threadIdx.x;
#pragma unroll 1
  for (std::uint32_t i = 0; i < displacing; ++i) {
    constexpr std::uint32_t half = constant_bytes / 2;
    // Each address depends on the previous word, but not on its value.
    other = load_constant(table, half + (i * constant_line) % half + (other & zero));
    consume(other);
  }
#pragma unroll 1
  for (std::uint32_t t = 0; t < plan.places(); ++t) {
    const std::uint32_t here =
        load_constant(table, static_cast<std::uint32_t>(plan.first_of(t)) + (other & zero));
    consume(here);
    // The address depends on the word that was waited for, so the load cannot begin earlier, and
    // the sum is ready before the clock is read.
    std::uint32_t second = static_cast<std::uint32_t>(plan.second_of(t)) + (here & zero);
    consume(second);
    const std::uint64_t start = cycles_now();
    asm volatile("" : "+r"(second) : : "memory");
    const std::uint32_t there = load_constant(table, second);
    consume(there);
    cycles[t] = cycles_now() - start;
    sum = joined(sum, here, there);
  }
  leave(stamp, begin, reading_after(), sum);
}

}  // namespace strata::cache_geometry
