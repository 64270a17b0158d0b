#include "nbody/neighbours/hit_queue.hpp"
#include "nbody/neighbours/own_order.cuh"

namespace strata::neighbours::kept_queue {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, SearchOwnOrder search) {
  __shared__ std::uint32_t hits[SearchWithQueue::room * usual_block];
  take_step_in_order<kind>(step, thread_number(),
                           SearchWithQueue{search, hits + threadIdx.x, usual_block});
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_own_order(problem, choice, [&]<Kind kind>() { return step_of<kind>; });
}

STRATA_RUNG("neighbours_kept_queue", make);

}  // namespace
}  // namespace strata::neighbours::kept_queue
