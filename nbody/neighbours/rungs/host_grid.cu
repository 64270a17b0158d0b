#include "nbody/neighbours/host_cells.cuh"

#include <memory>

namespace strata::neighbours::host_grid {
namespace {

const Rung rung{.name = "neighbours_host_grid",
                .backend = Backend::cuda,
                .before = "neighbours_lazy",
                .costs = {.issue_slots = 22.5},
                .question = "How much does a static grid gain that the host builds in each step?",
                .change =
                    "the host sorts agents into cells, and copies the cell offsets and the ids of "
                    "their agents to the GPU; a thread searches the cells within reach",
                .source = seed("6.2.1 and 6.2.2"),
                .expectation =
                    "distance tests fall from agents² to about 20 cells' worth per agent; a step "
                    "then consists of positions copied to the host, the host's work and cells "
                    "copied back; copied_bytes says how many bytes that is",
                .predicted_tests = predict_cells,
                .predicted_traffic = predict_host_grid,
                .axes = {cells_axis()}};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskCells search) {
  take_own_step<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  const auto host = std::make_shared<HostCells>(problem, choice);
  const auto starts =
      std::make_shared<DeviceBuffer<std::uint32_t>>(host->starts.size(), Where::current());
  return searching(
      problem.kind, Copies::lazy, [&]<Kind kind>() { return step_of<kind>; },
      [=](const DeviceStep& step, Queue& queue) -> AskCells {
        host->sort(step, queue);
        queue.copy_in(host->starts, *starts);
        return {.cells = host->cells, .starts = starts->data(), .ids = host->ids.device.data()};
      });
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::host_grid
