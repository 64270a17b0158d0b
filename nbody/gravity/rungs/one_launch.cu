// The layouts are steps of this rung: soa and soaoas belong to the ladder.
#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::one_launch {
namespace {

const Rung story{
    .name = "one_launch",
    .before = "tiled",
    .question = "How much does it gain to compute all systems in one launch?",
    .change = "the system is a row of the grid",
    .source = thessaly("Elimination of System counting Loop"),
    .expectation = "many systems: occupancy, and no gaps between launches; one system: nothing",
    .bodies_of_block = usual_block,
    .threads_of_read = usual_block,
    .layouts = {"aos", "soa", "aoas", "soaoas", "aosoa32"}};

#if defined(__CUDACC__)
template <Layout L, bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  walk_tiles<L, Plain, usual_block, 1, moves>(work, blockIdx.y);
}

RungKernel make(const Session& session, const Problem& problem) {
  return tile_kernel_in_layout(session, problem, Plain::square_roots,
                               [&]<class L, bool moves>() { return step_of<L, moves>; });
}
#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::one_launch
