#include "nbody/neighbours/boxes.cuh"

namespace strata::neighbours::split_slabs {
namespace {

const Rung rung{
    .name = "neighbours_split_slabs",
    .backend = Backend::cuda,
    .before = "neighbours_slabs",
    .question =
        "How much does it gain to divide agents along x until they fit a block, instead of sorting "
        "them?",
    .change =
        "the host divides agents at the mean of their x, and each part again, until none has more "
        "than 128; within a part their order is arbitrary",
    .source = seed("7.2.2, ordering in one dimension, and table 7.1: 59.5 % of the threads used"),
    .expectation =
        "the host saves the sort within slabs, but blocks are not full: for 16,384 boids some "
        "10,000 threads are idle, 4,000 of them in warps that work. The additional blocks read "
        "what is within reach again, so that the search is no faster",
    .predicted_tests = predict_split_slabs,
    .predicted_traffic = predict_host_boxes,
    .most_agents = 131072};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(box_size) step_of(KernelStep step, AskBoxes<Slab> search) {
  walk_slab<kind>(step, search);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  const auto kernel_of = [&]<Kind kind>() { return step_of<kind>; };
  return searching_boxes(problem, 0, kernel_of, divided_slabs);
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::split_slabs
