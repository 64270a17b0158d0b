#include "nbody/neighbours/own_order.cuh"

namespace strata::neighbours::kept_order {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, SearchOwnOrder search) {
  take_step_in_order<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_own_order(problem, choice, [&]<Kind kind>() { return step_of<kind>; });
}

STRATA_RUNG("neighbours_kept_order", make);

}  // namespace
}  // namespace strata::neighbours::kept_order
