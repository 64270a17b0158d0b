// Sums over the threads of a warp and of a block.
#pragma once

#include <cstdint>

namespace strata {

/// The sum of `value` over each group of `lanes` adjacent lanes, in every lane. All 32 lanes must
/// call it. Written by hand because cub::WarpReduce shuffles down and leaves the sum in one lane,
/// and the contracts count these butterflies.
template <unsigned lanes = 32, class Word>
__device__ __forceinline__ Word warp_sum(Word value) {
  static_assert(lanes == 32 || lanes == 16 || lanes == 8 || lanes == 4 || lanes == 2);
  for (unsigned offset = lanes / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFU, value, offset);
  return value;
}

/// The sum of `value` over the block, in its first warp. All threads must call it, in whole warps.
/// It returns after the values of all threads have arrived, so a later clock reading follows all
/// loads of the block.
__device__ __forceinline__ std::uint32_t block_sum(std::uint32_t value) {
  constexpr unsigned lanes = 32;
  __shared__ std::uint32_t sums[lanes];
  value = warp_sum(value);
  __syncthreads();  // the last call's sums have been read
  if (threadIdx.x % lanes == 0) sums[threadIdx.x / lanes] = value;
  __syncthreads();
  std::uint32_t all = 0;
  if (threadIdx.x < lanes) {
    all = warp_sum(threadIdx.x < blockDim.x / lanes ? sums[threadIdx.x] : 0);
  }
  return all;
}

/// Makes loads needed whose sum is not used, without writing: `sink` gets the sum only if it equals
/// one value in 2^32.
__device__ __forceinline__ void keep_loads(std::uint32_t sum, std::uint32_t* sink) {
  if (sum == 0xA5C3F00DU) *sink = sum;
}

}  // namespace strata
