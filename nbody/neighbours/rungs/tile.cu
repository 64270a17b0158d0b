#include "nbody/neighbours/all_pairs.cuh"

namespace strata::neighbours::tile {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block) step_of(KernelStep step, SearchAll /*search*/) {
  walk_tiles<kind>(step);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  return searching_all(problem.kind, Copies::all, [&]<Kind kind>() { return step_of<kind>; });
}

STRATA_RUNG("neighbours_tile", make);

}  // namespace
}  // namespace strata::neighbours::tile
