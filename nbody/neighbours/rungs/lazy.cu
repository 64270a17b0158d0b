#include "nbody/neighbours/device_rung.cuh"

namespace strata::neighbours::lazy {
namespace {

const Rung rung{
    .name = "neighbours_lazy",
    .backend = Backend::cuda,
    .before = "neighbours_tile",
    .costs = {.issue_slots = 8.875},
    .question = "How much does it gain to copy only what the other side reads or writes?",
    .change =
        "arrays stay on the GPU: what is read is copied in before the first step, what was written "
        "is copied out after the last",
    .source = seed("2.5: cupp::vector, which transfers data whenever needed"),
    .expectation =
        "copies fall from 16 per step of boids to 8 in eight steps, and with them the time of few "
        "agents",
    .predicted_tests = predict_all_pairs,
    .predicted_traffic = predict_lazy,
    .most_agents = 131072};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block) step_of(KernelStep step, AskAll /*everybody*/) {
  walk_tiles<kind>(step);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  return searching_all(problem.kind, Copies::lazy, [&]<Kind kind>() { return step_of<kind>; });
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::lazy
