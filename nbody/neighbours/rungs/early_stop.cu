#include "nbody/neighbours/boxes.cuh"

namespace strata::neighbours::early_stop {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(box_size) step_of(KernelStep step, SearchBoxes<Box> search) {
  walk_boxes<kind>(step, search);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  return searching_boxes(
      problem, 0, [&]<Kind kind>() { return step_of<kind>; }, boxes_of);
}

STRATA_RUNG("neighbours_early_stop", make);

}  // namespace
}  // namespace strata::neighbours::early_stop
