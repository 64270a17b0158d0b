// A thread for each agent, which reads all others from global memory; every vector goes to the GPU
// and back in each step.
#include "nbody/neighbours/all_pairs.cuh"

namespace strata::neighbours::all_pairs {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block) step_of(KernelStep step, SearchAll search) {
  take_own_step<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  return searching_all(problem.kind, Copies::all, [&]<Kind kind>() { return step_of<kind>; });
}

STRATA_RUNG("neighbours_all_pairs", make);

}  // namespace
}  // namespace strata::neighbours::all_pairs
