#include "nbody/neighbours/device_rung.cuh"

namespace strata::neighbours::tile {
namespace {

const Rung rung{
    .name = "neighbours_tile",
    .backend = Backend::cuda,
    .before = "neighbours_all_pairs",
    .costs = {.issue_slots = 8.875},
    .question = "How much does it gain to read each agent once per block?",
    .change = "tiles of 128 agents in shared memory, eight of which are tested for a hit at a time",
    .source = seed("5.2 and 6.3.1: shared memory as a cache"),
    .expectation =
        "three loads from L1 become one of 16 bytes from shared memory; of the 9 issue slots of a "
        "test 6 are arithmetic, the others a load, a minimum and an eighth of the comparison and "
        "the loop; a hit, which is rare, costs its warp some 80 more; the copies stay",
    .predicted_tests = predict_all_pairs,
    .predicted_traffic = predict_copying,
    .most_agents = 131072};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block) step_of(KernelStep step, AskAll /*everybody*/) {
  walk_tiles<kind>(step);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  return searching_all(problem.kind, Copies::all, [&]<Kind kind>() { return step_of<kind>; });
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::tile
