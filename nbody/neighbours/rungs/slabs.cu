#include "nbody/neighbours/boxes.cuh"

namespace strata::neighbours::slabs {
namespace {

const Rung rung{
    .name = "neighbours_slabs",
    .backend = Backend::cuda,
    .before = "neighbours_lazy",
    .question =
        "How much does it gain to give each block 128 agents that are adjacent along an axis?",
    .change =
        "the host sorts agents along x; each 128 of them are a slab and a block, which searches "
        "only the slabs within reach, which are contiguous, with tiles in shared memory",
    .source = seed("7.2.1, sorting"),
    .expectation =
        "a slab of the whole world is searched: for boids in a world of 50 some 12 % of the tests "
        "of lazy, and far more than with cells; the host's sort is most of a step",
    .predicted_tests = predict_slabs,
    .predicted_traffic = predict_host_boxes,
    .most_agents = 131072};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(box_size) step_of(KernelStep step, AskBoxes<Slab> search) {
  walk_slab<kind>(step, search);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  return searching_boxes(
      problem, 0, [&]<Kind kind>() { return step_of<kind>; }, sorted_slabs);
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::slabs
