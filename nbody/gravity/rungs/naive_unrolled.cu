#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::naive_unrolled {
namespace {

template <unsigned unroll, bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  const std::uint32_t mine = blockIdx.x * usual_block + threadIdx.x;
  if (mine >= work.bodies) return;
  const std::uint32_t first = blockIdx.y * work.bodies;
  // A pointer: an index of 32 bits, which may overflow, would cost two additions per body.
  const auto* const others = reinterpret_cast<const float4*>(work.from) + first;
  const float4 me = others[mine];
  Acceleration pulls;
#pragma unroll unroll
  for (const float4 *other = others, *const end = others + work.bodies; other != end; ++other) {
    const float4 body = *other;  // one load, not one per use
    pull<Fast>(pulls, me, body, work.softening_squared);
  }
  finish<Soaoas, moves>(work, first + mine, me, pulls);
}

RungKernel make(const Session& session, const Problem& problem) {
  const auto code = with_value<1, 2, 4, 8, 16, 32>(session.whole("unroll"), [&]<unsigned n>() {
    return problem.moves() ? step_of<n, true> : step_of<n, false>;
  });
  RungKernel kernel = tile_kernel(code, usual_block, 0, problem);
  kernel.square_roots = problem.interactions();  // no tile is padded
  kernel.most_counted = ~std::uint32_t{0};
  return kernel;
}

STRATA_RUNG("naive_unrolled", make);

}  // namespace
}  // namespace strata::nbody::naive_unrolled
