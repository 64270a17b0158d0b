#include "nbody/neighbours/device_rung.cuh"

#include <memory>

namespace strata::neighbours::host_grid {
namespace {

const Rung rung{
    .name = "neighbours_host_grid",
    .backend = Backend::cuda,
    .before = "neighbours_lazy",
    .question = "What does a static grid bring that the host builds in each step?",
    .change =
        "the host sorts agents into cells, and copies where each cell begins and whom it has to "
        "the GPU; a thread asks the agents of the cells within reach",
    .source = seed("6.2.1 and 6.2.2"),
    .expectation =
        "distance tests fall from agents² to about 20 cells' worth for each agent; then places "
        "on their way to the host, its work and the cells on their way back are the step: how "
        "many bytes that is, copied_bytes tells",
    .predicted_tests = predict_cells,
    .predicted_traffic = predict_host_grid,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskCells search) {
  take_own_step<kind>(step, thread_number(), search);
}

/// Cells on both sides.
struct HostGrid {
  Cells cells;
  TwoSided<std::uint32_t> starts;
  TwoSided<std::uint32_t> ids;

  HostGrid(const Problem& problem, const Choice& choice)
      : cells{cells_for(problem, choice)}, starts{cells.all() + 1}, ids{problem.agents} {}

  AskCells build(const DeviceStep& step, Queue& queue) {
    if (!step.first) {
      if (step.problem->moves()) queue.copy_out(step.from->places);
      queue.wait();  // for the places; and what is filled here was on its way to the last step
    }
    build_cells(cells, {.places = step.from->places.host.data(), .agents = step.agents()},
                starts.host.span(), ids.host.span());
    queue.copy_in(starts);
    queue.copy_in(ids);
    queue.count_rebuild();
    return {.cells = cells, .starts = starts.device.data(), .ids = ids.device.data()};
  }
};

DeviceKernel make(const Problem& problem, const Choice& choice) {
  const auto grid = std::make_shared<HostGrid>(problem, choice);
  return searching(
      problem.kind, Copies::lazy, [&]<Kind kind>() { return step_of<kind>; },
      [grid](const DeviceStep& step, Queue& queue) { return grid->build(step, queue); });
}
#endif

STRATA_NEIGHBOURS_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::host_grid
