// Reads a large array past L1 at memory speed: evicts L2 or fills it.
#pragma once

#include "harness/cuda/access.cuh"

#include <cstddef>
#include <cstdint>

namespace strata {

inline constexpr unsigned sweep_loads = 8;  ///< quads that a thread has in flight

/// Reads piece `turn` of `count` quads, which are divided evenly among the blocks of the grid:
/// contiguous pieces come closest to the memory's rate. All threads of the block must call it.
/// Returns a fold of the words that this thread read.
__device__ __forceinline__ std::uint32_t sweep_piece(const uint4* data, std::size_t count,
                                                     unsigned turn) {
  constexpr unsigned words = 4;
  std::uint32_t sum = 0;
  const auto take = [&sum](const std::uint32_t(&quad)[words]) {
    sum ^= quad[0] ^ quad[1] ^ quad[2] ^ quad[3];
  };
  const std::size_t piece = (count + gridDim.x - 1) / gridDim.x;
  const std::size_t begin = min(turn * piece, count);
  const std::size_t end = min(begin + piece, count);
  std::size_t i = begin + threadIdx.x;
  for (; i + (sweep_loads - 1) * blockDim.x < end; i += sweep_loads * blockDim.x) {
    std::uint32_t quads[sweep_loads][words];
#pragma unroll
    for (unsigned u = 0; u < sweep_loads; ++u)
      load<Access::global_cg, sizeof(uint4)>(quads[u], data + i + u * blockDim.x);
#pragma unroll
    for (unsigned u = 0; u < sweep_loads; ++u)
      take(quads[u]);
  }
  for (; i < end; i += blockDim.x) {
    std::uint32_t quad[words];
    load<Access::global_cg, sizeof(uint4)>(quad, data + i);
    take(quad);
  }
  return sum;
}

}  // namespace strata
