#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::queue {
namespace {

const Rung rung{
    .name = "neighbours_queue",
    .backend = Backend::cuda,
    .before = "neighbours_runs",
    .costs = {.issue_slots = 15.25, .build = predict_sorted_agents},
    .question = "What does it bring that warps work off hits together?",
    .change =
        "a thread notes in shared memory whom it finds, up to 32; when one has no room left, "
        "all of the warp work off theirs",
    .source =
        "Aila and Laine, Understanding the efficiency of ray traversal on GPUs, HPG 2009: what a "
        "thread finds is postponed until others of its warp have found something too",
    .expectation =
        "of circles a sixth of the tests are hits, so that in nearly each some lane computes a "
        "push while the others wait; worked off together, two of three lanes are at work. Lists, "
        "where a hit is but a store, lose the notes' own cost",
    .predicted_tests = predict_rows,
    .predicted_traffic = predict_counting_sort,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskRuns runs) {
  __shared__ std::uint32_t hits[AskPuttingOff::room * usual_block];
  const std::uint32_t thread = thread_number();
  if (thread >= step.agents) return;
  const Standing mine = runs.standing[thread];
  take_step<kind>(step, thread, mine.id, mine.place,
                  AskPuttingOff{runs, hits + threadIdx.x, usual_block});
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, ask_in_order<AskRuns>);
}
#endif

STRATA_NEIGHBOURS_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::queue
