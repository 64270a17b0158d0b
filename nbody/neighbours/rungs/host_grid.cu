#include "nbody/neighbours/host_cells.cuh"

#include <memory>

namespace strata::neighbours::host_grid {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, SearchCellIds search) {
  take_own_step<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  const auto host = std::make_shared<HostCells>(problem, choice);
  const auto starts =
      std::make_shared<DeviceBuffer<std::uint32_t>>(host->starts.size(), Where::current());
  return searching(
      problem.kind, Copies::lazy, [&]<Kind kind>() { return step_of<kind>; },
      [=](const DeviceStep& step, Queue& queue) -> SearchCellIds {
        host->sort(step, queue);
        queue.copy_in(host->starts, *starts);
        return {.cells = host->cells, .starts = starts->data(), .ids = host->ids.device.data()};
      });
}

STRATA_RUNG("neighbours_host_grid", make);

}  // namespace
}  // namespace strata::neighbours::host_grid
