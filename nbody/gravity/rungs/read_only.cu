#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::read_only {
namespace {

constexpr unsigned unroll = 32;

template <bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  const std::uint32_t mine = blockIdx.x * usual_block + threadIdx.x;
  if (mine >= work.bodies) return;
  const std::uint32_t first = blockIdx.y * work.bodies;
  const auto* const others = reinterpret_cast<const float4*>(work.from) + first;
  const float4 me = __ldg(others + mine);
  Acceleration pulls;
#pragma unroll unroll
  for (const float4 *other = others, *const end = others + work.bodies; other != end; ++other)
    pull<Fast>(pulls, me, __ldg(other), work.softening_squared);
  finish<Soaoas, moves>(work, first + mine, me, pulls);
}

RungKernel make(const Session&, const Problem& problem) {
  RungKernel kernel =
      tile_kernel(problem.moves() ? step_of<true> : step_of<false>, usual_block, 0, problem);
  kernel.square_roots = problem.interactions();  // no tile is padded
  return kernel;
}

STRATA_RUNG("read_only", make);

}  // namespace
}  // namespace strata::nbody::read_only
