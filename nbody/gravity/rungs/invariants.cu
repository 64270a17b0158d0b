// The reader's position is negated before the loop, the softening is copied from the kernel
// parameters into a register, and the tile is traversed by a pointer instead of an index.
#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::invariants {
namespace {

constexpr unsigned unroll = 32;

template <bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  __shared__ float4 tile[usual_block];
  const std::uint32_t first = blockIdx.y * work.bodies;
  const std::uint32_t mine = blockIdx.x * usual_block + threadIdx.x;
  const bool real = mine < work.bodies;
  const float4 me = real ? read_posmass<Soaoas>(work.from, first + mine, work.total) : massless();
  const float away_x = -me.x;
  const float away_y = -me.y;
  const float away_z = -me.z;
  const float softening_squared = work.softening_squared;
  Acceleration pulls;
#pragma unroll 1
  for (std::uint32_t start = 0; start < work.bodies; start += usual_block) {
    const std::uint32_t loaded = start + threadIdx.x;
    tile[threadIdx.x] = loaded < work.bodies
                            ? read_posmass<Soaoas>(work.from, first + loaded, work.total)
                            : massless();
    __syncthreads();
    const float4* other = tile;
    const float4* const end = tile + usual_block;
#pragma unroll unroll
    for (; other != end; ++other) {
      const float4 body = *other;  // one load for all uses
      const float dx = body.x + away_x;
      const float dy = body.y + away_y;
      const float dz = body.z + away_z;
      const float inverse = fast_rsqrt(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared))));
      const float strength = body.w * inverse * (inverse * inverse);
      pulls.x = fmaf(strength, dx, pulls.x);
      pulls.y = fmaf(strength, dy, pulls.y);
      pulls.z = fmaf(strength, dz, pulls.z);
    }
    __syncthreads();
  }
  if (real) finish<Soaoas, moves>(work, first + mine, me, pulls);
}

RungKernel make(const Session&, const Problem& problem) {
  return tile_kernel(problem.moves() ? step_of<true> : step_of<false>, usual_block,
                     Fast::square_roots, problem);
}

STRATA_RUNG("invariants", make);

}  // namespace
}  // namespace strata::nbody::invariants
