#include "nbody/neighbours/hit_queue.hpp"
#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::queue {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, SearchRows runs) {
  __shared__ std::uint32_t hits[SearchWithQueue::room * usual_block];
  take_step_in_order<kind>(step, thread_number(),
                           SearchWithQueue{runs, hits + threadIdx.x, usual_block});
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, search_in_order<SearchRows>);
}

STRATA_RUNG("neighbours_queue", make);

}  // namespace
}  // namespace strata::neighbours::queue
