#include "harness/case/choices.hpp"
#include "nbody/neighbours/sorted_cells.cuh"
#include "nbody/neighbours/z_curve.hpp"

namespace strata::neighbours::curve {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, SearchCellsAlongCurve search) {
  take_step_in_order<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; },
      [](SortedCells& sorted, const DeviceStep& step, Queue& queue) -> SearchCellsAlongCurve {
        auto search = search_in_order<SearchCellsAlongCurve>(sorted, step, queue);
        search.places = sorted.places();
        return search;
      },
      choice.curve == Curve::z ? along_z_curve(cells_for(problem, choice))
                               : along_hilbert_curve(cells_for(problem, choice)));
}

STRATA_RUNG("neighbours_curve", make);

}  // namespace
}  // namespace strata::neighbours::curve
