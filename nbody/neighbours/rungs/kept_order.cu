#include "nbody/neighbours/own_order.cuh"

namespace strata::neighbours::kept_order {
namespace {

const Rung rung{
    .name = "neighbours_kept_order",
    .backend = Backend::cuda,
    .before = "neighbours_runs",
    .costs = {.issue_slots = 14.5, .build = predict_kept_order},
    .question = "How much does it gain to keep agents in cell order from step to step?",
    .change =
        "everything that is known of an agent moves into cell order, with its id; a step reads and "
        "writes there, and the next one starts from that order",
    .source =
        "Anderson, Lorenz and Travesset, Journal of Computational Physics 227, 2008: HOOMD sorts "
        "particles along a curve every few hundred steps",
    .expectation =
        "as many tests as runs. In runs an agent's state, its results and its neighbours' "
        "directions are at its id: each word of 4 bytes costs a sector of 32. In cell order a "
        "warp's words are adjacent, and from the second step on the sort itself moves few agents "
        "far. Little gain while all data fit into L2, much beyond it",
    .predicted_tests = predict_rows,
    .predicted_traffic = predict_kept_order,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskOwnOrder search) {
  take_step_standing<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_own_order(problem, choice, [&]<Kind kind>() { return step_of<kind>; });
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::kept_order
