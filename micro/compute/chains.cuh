// Shared parts of kernels that run chains of operations.
#pragma once

#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "micro/compute/chains.hpp"

namespace strata::operations {

/// Waits for all chains: tests each word's upper half, which no chain fills with ones (a test
/// ensures that).
template <unsigned chains, class Word>
__device__ __forceinline__ void wait_for(const Word (&x)[chains]) {
#pragma unroll
  for (unsigned c = 0; c < chains; ++c)
    consume(static_cast<std::uint32_t>(bits(x[c]) >> (8 * (sizeof(Word) - 4))));
}

/// Stores the ends of the first warp of the grid, and returns the checksum of this one.
template <unsigned chains, class Word>
__device__ __forceinline__ std::uint64_t keep_ends(const Word (&x)[chains], std::uint64_t* ends) {
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  std::uint64_t checksum = 0;
#pragma unroll
  for (unsigned c = 0; c < chains; ++c) {
    if (blockIdx.x == 0 && threadIdx.x < warp_lanes) ends[c * warp_lanes + lane] = bits(x[c]);
    checksum += checksum_part(bits(x[c]), c * warp_lanes + lane);
  }
  return warp_sum(checksum);
}

}  // namespace strata::operations
