#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::runs {
namespace {

const Rung rung{
    .name = "neighbours_runs",
    .backend = Backend::cuda,
    .before = "neighbours_reordered",
    .costs = {.issue_slots = 14.5, .build = predict_sorted_agents},
    .question = "How much does it gain to search a row of cells as one run?",
    .change = "adjacent cells along x are contiguous in memory: 9 loops instead of 27",
    .source = "neighbours_cpu_packed, which searches like this on a CPU",
    .expectation = "somewhat more distance tests, in fewer, longer loops with fewer idle threads",
    .predicted_tests = predict_rows,
    .predicted_traffic = predict_counting_sort,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskRuns search) {
  take_step_standing<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, ask_in_order<AskRuns>);
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::runs
