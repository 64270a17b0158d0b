// Rung fast_math: what does the special function unit's reciprocal square root bring, and what
// accuracy does it cost?
#include "nbody/gravity/rung_kernels.cuh"
#include "nbody/gravity/tile.cuh"

namespace strata::nbody::fast_math {
namespace {

constexpr unsigned block = 256;

template <Layout L, bool moves>
__global__ void __launch_bounds__(block) step_of(Work work) {
  walk_tiles<L, Fast, block, 1, moves>(work, blockIdx.y);
}

Climber make(const Session& session, const Problem& problem) {
  Climber climber;
  with_layout_named(session.param("layout"), [&]<class L>() {
    climber = tile_climber(problem.kind == Kind::galaxies ? step_of<L, true> : step_of<L, false>,
                           block, Fast::square_roots, problem);
  });
  return climber;
}

STRATA_RUNG("fast_math", make);

}  // namespace
}  // namespace strata::nbody::fast_math
