#include "nbody/neighbours/boxes.cuh"

namespace strata::neighbours::early_stop {
namespace {

const Rung rung{
    .name = "neighbours_early_stop",
    .backend = Backend::cuda,
    .before = "neighbours_boxes",
    .question = "How much does it gain to search only adjacent boxes, whatever the reach?",
    .change =
        "a block searches the boxes that touch its own, and assumes that they contain all "
        "neighbours. Nothing guarantees that: its rows are valid where no agent has wrong "
        "neighbours, and wrong_neighbours counts those that have",
    .source = seed("7.3: the optimised search, expecting enough neighbours in surrounding cells"),
    .expectation =
        "fewer tests where boxes are small compared to the reach, which is where neighbours are "
        "missed; where boxes are larger than the reach, the same tests and no gain",
    .predicted_tests = predict_early_stop,
    .predicted_traffic = predict_host_boxes,
    .most_agents = 131072,
    .exact = false};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(box_size) step_of(KernelStep step, AskBoxes<Box> search) {
  walk_boxes<kind>(step, search);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  return searching_boxes(
      problem, 0, [&]<Kind kind>() { return step_of<kind>; }, boxes_of);
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::early_stop
