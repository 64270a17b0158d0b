#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::reordered {
namespace {

const Rung rung{
    .name = "neighbours_reordered",
    .backend = Backend::cuda,
    .before = "neighbours_counting_sort",
    .costs = {.issue_slots = 14.5, .build = predict_sorted_agents},
    .question = "What does it bring that agents stand in the order of their cells?",
    .change =
        "places are copied in the order of cells, with their numbers; so stand the threads, so "
        "that "
        "a warp asks the same cells",
    .source = "Green, Particle simulation using CUDA, NVIDIA, 2010: sorted data, read in order",
    .expectation =
        "whom a cell has is read in one piece, 16 bytes an agent, and the lanes of a warp read the "
        "same ones; what belongs to an agent by its number is written here and there",
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

STRATA_NEIGHBOURS_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::reordered
