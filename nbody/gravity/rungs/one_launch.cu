// Rung one_launch: what does it bring to compute all systems in one launch, a system for each row
// of the grid? The layouts are steps of this rung: soa and soaoas are the ladder's.
#include "nbody/gravity/rung_kernels.cuh"
#include "nbody/gravity/tile.cuh"

namespace strata::nbody::one_launch {
namespace {

constexpr unsigned block = 256;

template <Layout L, bool moves>
__global__ void __launch_bounds__(block) step_of(Work work) {
  walk_tiles<L, Plain, block, 1, moves>(work, blockIdx.y);
}

Climber make(const Session& session, const Problem& problem) {
  Climber climber;
  with_layout_named(session.param("layout"), [&]<class L>() {
    climber = tile_climber(problem.kind == Kind::galaxies ? step_of<L, true> : step_of<L, false>,
                           block, Plain::square_roots, problem);
  });
  return climber;
}

STRATA_RUNG("one_launch", make);

}  // namespace
}  // namespace strata::nbody::one_launch
