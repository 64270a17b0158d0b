#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::runs {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskRuns search) {
  take_step_standing<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, ask_in_order<AskRuns>);
}

STRATA_RUNG("neighbours_runs", make);

}  // namespace
}  // namespace strata::neighbours::runs
