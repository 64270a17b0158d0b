#include "nbody/neighbours/boxes.cuh"

namespace strata::neighbours::split_slabs {
namespace {

const Rung rung{
    .name = "neighbours_split_slabs",
    .backend = Backend::cuda,
    .before = "neighbours_slabs",
    .question =
        "What does it bring to divide agents along x, in the place of sorting them, until a block "
        "has room for them?",
    .change =
        "the host divides agents at the mean of their x, and each part again, until none has more "
        "than 128; in a part they stand in any order",
    .source = seed("7.2.2, ordering in one dimension, and table 7.1: 59.5 % of the threads used"),
    .expectation =
        "a host that is quicker by the sort within slabs, but blocks that are not full: of 16,384 "
        "boids some 10,000 threads are idle, 4,000 of them in warps that work. As many more blocks "
        "read what is within reach, so that the search is no faster",
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

STRATA_NEIGHBOURS_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::split_slabs
