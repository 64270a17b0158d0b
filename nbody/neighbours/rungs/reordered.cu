#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::reordered {
namespace {

const Rung rung{
    .name = "neighbours_reordered",
    .backend = Backend::cuda,
    .before = "neighbours_counting_sort",
    .costs = {.issue_slots = 14.5, .build = predict_sorted_agents},
    .question = "How much does it gain to store agents in cell order?",
    .change =
        "positions and ids are copied into cell order; threads use the same order, so that a warp "
        "searches the same cells",
    .source = "Green, Particle simulation using CUDA, NVIDIA, 2010: sorted data, read in order",
    .expectation =
        "the agents of a cell are read in one piece, 16 bytes per agent, and the lanes of a warp "
        "read the same ones; data that are stored by agent id are accessed in scattered order",
    .predicted_tests = predict_packed_cells,
    .predicted_traffic = predict_counting_sort,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskStanding search) {
  take_step_standing<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, ask_in_order<AskStanding>);
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::reordered
