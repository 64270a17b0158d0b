// Kernel parts of line_walk.hpp.
#pragma once

#include "harness/cuda/access.cuh"
#include "harness/cuda/stamps.cuh"
#include "micro/latency/line_walk.hpp"

#include <cstdint>

namespace strata::l2_partition {

/// The word holds its own address, so the result is the address of the next exchange.
__device__ __forceinline__ void exchange(std::uint64_t& at) {
  // Wanted: ATOMG.E.EXCH.64
  asm volatile("atom.global.exch.b64 %0, [%0], %0;" : "+l"(at) : : "memory");
}

/// One thread of each SM visits all `lines`, beginning with `start`, which is another one for each
/// SM, so that two SMs are hardly ever at the same line. `cell` returns the cycles of a line, which
/// it finds by its word, and must leave `at` unchanged. A stamp's result is how many lines did not
/// return their address.
template <class Cell>
__device__ __forceinline__ void go_over(const std::uint64_t* line_addresses, std::uint32_t lines,
                                        std::uint32_t start, std::uint64_t* cycles, Stamp* stamps,
                                        const Cell& cell) {
  std::uint64_t wrong = 0;
  const Reading before = reading_before();
#pragma unroll 1
  for (std::uint32_t i = 0; i < lines; ++i) {
    const std::uint32_t line = (start + i) % lines;
    const std::uint64_t own = line_addresses[line];
    std::uint64_t at = own;
    cycles[blockIdx.x * lines + line] = cell(at);
    wrong += at == own ? 0 : 1;
  }
  leave(stamps + blockIdx.x, before, reading_after(), wrong);
}

/// Cycles of `turns` × `turn` dependent accesses, after as many as a turn has: then the translation
/// and the line are cached.
template <class Step>
__device__ __forceinline__ std::uint64_t timed_chain(std::uint64_t& at, std::uint32_t turns,
                                                     const Step& step) {
#pragma unroll
  for (std::uint32_t u = 0; u < turn; ++u)
    step(at);
  consume(static_cast<std::uint32_t>(at));
  const std::uint64_t begin = cycles_now();
#pragma unroll 1
  for (std::uint32_t t = 0; t < turns; ++t) {
#pragma unroll
    for (std::uint32_t u = 0; u < turn; ++u)
      step(at);
  }
  consume(static_cast<std::uint32_t>(at));
  return cycles_now() - begin;
}

}  // namespace strata::l2_partition
