// A thread for each agent, which reads all others from global memory; every vector goes to the GPU
// and back in each step.
#include "nbody/neighbours/device_rung.cuh"

namespace strata::neighbours::all_pairs {
namespace {

const Rung rung{
    .name = "neighbours_all_pairs",
    .backend = Backend::cuda,
    .costs = {.issue_slots = 17},
    .question = "What does it cost to find all neighbours on a GPU by testing all pairs?",
    .change = "a thread per agent; every array is copied in before a step, and out after it",
    .source = seed("5.2, with the explicit copies of 2.5"),
    .expectation =
        "agents² distance tests per step, read from L1; with few agents the copies, two per array "
        "and step, take longer than the kernel",
    .predicted_tests = predict_all_pairs,
    .predicted_traffic = predict_copying,
    .most_agents = 131072};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block) step_of(KernelStep step, AskAll search) {
  take_own_step<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  return searching_all(problem.kind, Copies::all, [&]<Kind kind>() { return step_of<kind>; });
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::all_pairs
