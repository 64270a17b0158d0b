#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::unrolled {
namespace {

template <unsigned unroll, bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  walk_tiles<Soaoas, Fast, usual_block, unroll, moves>(work, blockIdx.y);
}

RungKernel make(const Session& session, const Problem& problem) {
  const auto kernel = with_value<1, 2, 4, 8, 16, 32, 64, 128, 256>(
      session.whole("unroll"),
      [&]<unsigned n>() { return problem.moves() ? step_of<n, true> : step_of<n, false>; });
  return tile_kernel(kernel, usual_block, Fast::square_roots, problem);
}

STRATA_RUNG("unrolled", make);

}  // namespace
}  // namespace strata::nbody::unrolled
