#include "nbody/neighbours/boxes.cuh"

namespace strata::neighbours::split_slabs {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(box_size) step_of(KernelStep step, SearchBoxes<Slab> search) {
  walk_slab<kind>(step, search);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  const auto kernel_of = [&]<Kind kind>() { return step_of<kind>; };
  return searching_boxes(problem, 0, kernel_of, divided_slabs);
}

STRATA_RUNG("neighbours_split_slabs", make);

}  // namespace
}  // namespace strata::neighbours::split_slabs
