#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::counting_sort {
namespace {

const Rung rung{
    .name = "neighbours_counting_sort",
    .backend = Backend::cuda,
    .before = "neighbours_scan_grid",
    .costs = {.issue_slots = 22.5, .build = predict_sorted_ids},
    .question = "How much does it gain to sort agents into cells with atomic additions?",
    .change =
        "a thread per agent increments the count of its cell, which gives the agent's place in the "
        "cell; after the scan it writes its id there",
    .source = "Hoetzlein, Fast fixed-radius nearest neighbors, GTC 2014: counting sort by atomics",
    .expectation =
        "building costs a few launches of some microseconds; the agents of a cell are in any order",
    .predicted_tests = predict_cells,
    .predicted_traffic = predict_counting_sort,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskCells search) {
  take_own_step<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; },
      [](SortedCells& sorted, const DeviceStep& step, Queue& queue) {
        return sorted.build_ids(step, queue);
      });
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::counting_sort
