#include "nbody/neighbours/boxes.cuh"

namespace strata::neighbours::boxes {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(box_size) step_of(KernelStep step, SearchBoxes<Box> search) {
  walk_boxes<kind>(step, search);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  const double reach = world_of(problem).reach;
  return searching_boxes(
      problem, static_cast<float>(reach * reach), [&]<Kind kind>() { return step_of<kind>; },
      boxes_of);
}

STRATA_RUNG("neighbours_boxes", make);

}  // namespace
}  // namespace strata::neighbours::boxes
