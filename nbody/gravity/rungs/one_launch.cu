// The layouts are steps of this rung: soa and soaoas are the ladder's.
#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::one_launch {
namespace {

constexpr unsigned block = 256;

Rung story() {
  return {
      .name = "one_launch",
      .before = "tiled",
      .question = "What does it bring to compute all systems in one launch?",
      .change = "the system is a row of the grid",
      .source = thessaly("Elimination of System counting Loop"),
      .expectation = "of many systems: occupancy, and no time between launches; of one: nothing",
      .bodies_of_block = block,
      .threads_of_read = block,
      .layouts = {"aos", "soa", "aoas", "soaoas", "aosoa32"}};
}

#if defined(__CUDACC__)

template <Layout L, bool moves>
__global__ void __launch_bounds__(block) step_of(Work work) {
  walk_tiles<L, Plain, block, 1, moves>(work, blockIdx.y);
}

RungKernel make(const Session& session, const Problem& problem) {
  return tile_kernel_in_layout(session, problem, block, Plain::square_roots,
                               [&]<class L, bool moves>() { return step_of<L, moves>; });
}

#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::one_launch
