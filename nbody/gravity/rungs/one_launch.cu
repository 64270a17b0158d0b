// The layouts are steps of this rung: soa and soaoas belong to the ladder.
#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::one_launch {
namespace {

template <Layout L, bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  walk_tiles<L, Plain, usual_block, 1, moves>(work, blockIdx.y);
}

RungKernel make(const Session& session, const Problem& problem) {
  return tile_kernel_in_layout(session, problem, Plain::square_roots,
                               [&]<class L, bool moves>() { return step_of<L, moves>; });
}

STRATA_RUNG("one_launch", make);

}  // namespace
}  // namespace strata::nbody::one_launch
