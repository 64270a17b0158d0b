#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::queue {
namespace {

const Rung rung{
    .name = "neighbours_queue",
    .backend = Backend::cuda,
    .before = "neighbours_runs",
    .costs = {.issue_slots = 15.25, .build = predict_sorted_agents},
    .question = "How much does it gain when warps process hits together?",
    .change =
        "a thread stores its hits in shared memory, up to 32; when one has no room left, all "
        "threads of the warp process theirs",
    .source =
        "Aila and Laine, Understanding the efficiency of ray traversal on GPUs, HPG 2009: what a "
        "thread finds is postponed until others of its warp have found something too",
    .expectation =
        "for circles a sixth of the tests are hits, so that in nearly every test some lane "
        "computes a push while the others wait; processed together, two of three lanes are active. "
        "Lists, where a hit is only a store, lose the cost of the queue",
    .predicted_tests = predict_rows,
    .predicted_traffic = predict_counting_sort,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskRuns runs) {
  __shared__ std::uint32_t hits[AskPuttingOff::room * usual_block];
  take_step_standing<kind>(step, thread_number(),
                           AskPuttingOff{runs, hits + threadIdx.x, usual_block});
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, ask_in_order<AskRuns>);
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::queue
