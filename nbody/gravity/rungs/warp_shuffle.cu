// Each lane loads one body of 32; then the warp rotates them, with four shuffles for each.
#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::warp_shuffle {
namespace {

constexpr unsigned lanes = 32;
constexpr unsigned whole_warp = 0xFFFFFFFFU;

template <bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  const std::uint32_t first = blockIdx.y * work.bodies;
  const std::uint32_t mine = blockIdx.x * usual_block + threadIdx.x;
  const std::uint32_t lane = threadIdx.x % lanes;
  const bool real = mine < work.bodies;
  const float4 me = real ? read_posmass<Soaoas>(work.from, first + mine, work.total) : massless();
  Acceleration pulls;
#pragma unroll 1
  for (std::uint32_t start = 0; start < work.bodies; start += lanes) {
    const std::uint32_t loaded = start + lane;
    const float4 held = loaded < work.bodies
                            ? read_posmass<Soaoas>(work.from, first + loaded, work.total)
                            : massless();
#pragma unroll
    for (unsigned k = 0; k < lanes; ++k) {
      const float4 other{__shfl_sync(whole_warp, held.x, static_cast<int>(k)),
                         __shfl_sync(whole_warp, held.y, static_cast<int>(k)),
                         __shfl_sync(whole_warp, held.z, static_cast<int>(k)),
                         __shfl_sync(whole_warp, held.w, static_cast<int>(k))};
      pull<Fast>(pulls, me, other, work.softening_squared);
    }
  }
  if (real) finish<Soaoas, moves>(work, first + mine, me, pulls);
}

RungKernel make(const Session&, const Problem& problem) {
  RungKernel kernel =
      tile_kernel(problem.moves() ? step_of<true> : step_of<false>, usual_block, 0, problem);
  kernel.square_roots = static_cast<double>(problem.systems) *
                        blocks_for(problem.bodies, usual_block) * usual_block *
                        blocks_for(problem.bodies, lanes) * lanes;
  return kernel;
}

STRATA_RUNG("warp_shuffle", make);

}  // namespace
}  // namespace strata::nbody::warp_shuffle
