#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::runs {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, SearchRows search) {
  take_step_in_order<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, search_in_order<SearchRows>);
}

STRATA_RUNG("neighbours_runs", make);

}  // namespace
}  // namespace strata::neighbours::runs
