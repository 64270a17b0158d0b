#include "nbody/neighbours/boxes.cuh"

namespace strata::neighbours::boxes {
namespace {

const Rung rung{
    .name = "neighbours_boxes",
    .backend = Backend::cuda,
    .before = "neighbours_split_slabs",
    .question = "How much does it gain to divide agents along all axes?",
    .change =
        "the host divides agents along the axis on which their mean is nearest to a border of "
        "their part of the world; each block determines which boxes are within reach of its own",
    .source =
        seed("7.2.3, ordering in three dimensions, and table 7.1: 62.5 % of the threads used"),
    .expectation =
        "boxes instead of slabs: for 16,384 boids in a world of 50 a tenth of the tests, so that "
        "the host limits a step; 61 to 64 % of the threads have an agent",
    .predicted_tests = predict_boxes,
    .predicted_traffic = predict_host_boxes,
    .most_agents = 131072};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(box_size) step_of(KernelStep step, AskBoxes<Box> search) {
  walk_boxes<kind>(step, search);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  const double reach = world_of(problem).reach;
  return searching_boxes(
      problem, static_cast<float>(reach * reach), [&]<Kind kind>() { return step_of<kind>; },
      boxes_of);
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::boxes
