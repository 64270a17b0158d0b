#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::counting_sort {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, SearchCellIds search) {
  take_own_step<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; },
      [](SortedCells& sorted, const DeviceStep& step, Queue& queue) {
        return sorted.build_ids(step, queue);
      });
}

STRATA_RUNG("neighbours_counting_sort", make);

}  // namespace
}  // namespace strata::neighbours::counting_sort
