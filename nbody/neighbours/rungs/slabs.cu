#include "nbody/neighbours/boxes.cuh"

namespace strata::neighbours::slabs {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(box_size) step_of(KernelStep step, SearchBoxes<Slab> search) {
  walk_slab<kind>(step, search);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  return searching_boxes(
      problem, 0, [&]<Kind kind>() { return step_of<kind>; }, sorted_slabs);
}

STRATA_RUNG("neighbours_slabs", make);

}  // namespace
}  // namespace strata::neighbours::slabs
