#include "nbody/neighbours/own_order.cuh"

namespace strata::neighbours::kept_queue {
namespace {

const Rung rung{
    .name = "neighbours_kept_queue",
    .backend = Backend::cuda,
    .before = "neighbours_kept_order",
    .costs = {.issue_slots = 15.25, .build = predict_kept_order},
    .question =
        "How much does it gain when warps process the hits of agents in cell order together?",
    .change =
        "a thread stores its hits in shared memory, up to 32; when one has no room left, all "
        "threads of the warp process theirs",
    .source =
        "Aila and Laine, Understanding the efficiency of ray traversal on GPUs, HPG 2009; "
        "neighbours_queue does the same to neighbours_runs",
    .expectation =
        "as many tests as kept_order, where some lane of a warp has a hit in nearly every test, "
        "and the others wait while it is processed. Processed together, hits cost as much as the "
        "lane with the most of them needs: for boids a quarter, since a hit moves the nearest "
        "seven. Lists gain, too: the lanes of a warp are adjacent agents, so that what they store "
        "together is one line",
    .predicted_tests = predict_rows,
    .predicted_traffic = predict_kept_order,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskOwnOrder search) {
  __shared__ std::uint32_t hits[AskPuttingOff::room * usual_block];
  take_step_standing<kind>(step, thread_number(),
                           AskPuttingOff{search, hits + threadIdx.x, usual_block});
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_own_order(problem, choice, [&]<Kind kind>() { return step_of<kind>; });
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::kept_queue
