#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::fast_math {
namespace {

template <Layout L, bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  walk_tiles<L, Fast, usual_block, 1, moves>(work, blockIdx.y);
}

RungKernel make(const Session& session, const Problem& problem) {
  return tile_kernel_in_layout(session, problem, Fast::square_roots,
                               [&]<class L, bool moves>() { return step_of<L, moves>; });
}

STRATA_RUNG("fast_math", make);

}  // namespace
}  // namespace strata::nbody::fast_math
