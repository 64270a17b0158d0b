// A block's walk over the bodies of a system, tile by tile through shared memory (Nyland, Harris,
// Prins, GPU Gems 3, ch. 31; CUDA Handbook, Listing 14.4). Rungs differ in what they make of it.
#pragma once

#include "nbody/gravity/bodies.cuh"
#include "nbody/gravity/interaction.cuh"

#include <cstdint>

namespace strata::nbody {

/// One body a thread. `block`: threads of a block and bodies of a tile. Every thread of a block
/// takes part in loading, also those beyond the last body; the last tile is filled up with bodies
/// that have no mass.
template <Layout L, class Math, unsigned block, unsigned unroll, bool moves>
__device__ __forceinline__ void walk_tiles(const Work& work, std::uint32_t system) {
  __shared__ float4 tile[block];
  const std::uint32_t first = system * work.bodies;
  const std::uint32_t mine = blockIdx.x * block + threadIdx.x;
  const bool real = mine < work.bodies;
  const float4 me = real ? read_posmass<L>(work.from, first + mine, work.total) : nobody();
  Acceleration pulls;
#pragma unroll 1
  for (std::uint32_t start = 0; start < work.bodies; start += block) {
    const std::uint32_t loaded = start + threadIdx.x;
    tile[threadIdx.x] =
        loaded < work.bodies ? read_posmass<L>(work.from, first + loaded, work.total) : nobody();
    __syncthreads();
#pragma unroll unroll
    for (unsigned k = 0; k < block; ++k) {
      const float4 other = tile[k];  // one load, not one for each use
      pull<Math>(pulls, me, other, work.softening_squared);
    }
    __syncthreads();
  }
  if (real) finish<L, moves>(work, first + mine, me, pulls);
}

}  // namespace strata::nbody
