// Rung read_only: does the tile in shared memory still pay, when the read-only path through L1
// hands one body to all lanes of a warp? (CUDA Handbook 14.2, on caches)
#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::read_only {
namespace {

constexpr unsigned block = 256;
constexpr unsigned unroll = 32;

template <bool moves>
__global__ void __launch_bounds__(block) step_of(Work work) {
  const std::uint32_t mine = blockIdx.x * block + threadIdx.x;
  if (mine >= work.bodies) return;
  const std::uint32_t first = blockIdx.y * work.bodies;
  const auto* const others = reinterpret_cast<const float4*>(work.from) + first;
  const float4 me = __ldg(others + mine);
  Pulls pulls;
#pragma unroll unroll
  for (const float4 *other = others, *const end = others + work.bodies; other != end; ++other)
    pull<Fast>(pulls, me, __ldg(other), work.softening_squared);
  finish<Soaoas, moves>(work, first + mine, me, pulls);
}

Climber make(const Session&, const Problem& problem) {
  Climber climber = tile_climber(problem.kind == Kind::galaxies ? step_of<true> : step_of<false>,
                                 block, 0, problem);
  climber.square_roots = problem.interactions();  // no tile is filled up
  return climber;
}

STRATA_RUNG("read_only", make);

}  // namespace
}  // namespace strata::nbody::read_only
