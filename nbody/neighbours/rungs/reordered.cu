#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::reordered {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskStanding search) {
  take_step_standing<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, ask_in_order<AskStanding>);
}

STRATA_RUNG("neighbours_reordered", make);

}  // namespace
}  // namespace strata::neighbours::reordered
