// Sums over the threads of a warp and of a block.
#pragma once

#include <cstdint>

namespace strata {

/// The sum of `value` over each group of `lanes` neighbouring lanes, in every lane. All 32 lanes
/// call it. The loop over offsets is by hand: cub::WarpReduce shuffles down and leaves the sum in
/// one lane, and the contracts count these butterflies.
template <unsigned lanes = 32, class Word>
__device__ __forceinline__ Word warp_sum(Word value) {
  static_assert(lanes == 32 || lanes == 16 || lanes == 8 || lanes == 4 || lanes == 2);
  for (unsigned offset = lanes / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFU, value, offset);
  return value;
}

/// The sum of `value` over the block, in its first warp. All threads call it, in whole warps. Every
/// thread's value is there when it returns: a clock read behind it follows all loads of the block.
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

/// Makes loads needed whose sum nobody asks for, and writes nothing: `sink` gets the sum if that is
/// one value in 2^32.
__device__ __forceinline__ void keep_loads(std::uint32_t sum, std::uint32_t* sink) {
  if (sum == 0xA5C3F00DU) *sink = sum;
}

}  // namespace strata
