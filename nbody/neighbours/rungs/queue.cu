#include "nbody/neighbours/hit_queue.hpp"
#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::queue {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskRuns runs) {
  __shared__ std::uint32_t hits[AskPuttingOff::room * usual_block];
  take_step_standing<kind>(step, thread_number(),
                           AskPuttingOff{runs, hits + threadIdx.x, usual_block});
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, ask_in_order<AskRuns>);
}

STRATA_RUNG("neighbours_queue", make);

}  // namespace
}  // namespace strata::neighbours::queue
