// Agents that the host sorts into cells, before each step that needs them.
#pragma once

#include "nbody/neighbours/device_rung.cuh"

#if defined(__CUDACC__)
#include <cstdint>

namespace strata::neighbours {

struct HostCells {
  Cells cells;
  PinnedBuffer<std::uint32_t> starts;  ///< where each cell begins; one more at the end
  TwoSided<std::uint32_t> ids;

  HostCells(const Problem& problem, const Choice& choice)
      : cells{cells_for(problem, choice)}, starts{cells.all() + 1}, ids{problem.agents} {}

  /// Sorts the agents that a step starts from. Whom cells have is then on its way to the GPU; where
  /// they begin is on the host alone. Waits.
  void sort(const DeviceStep& step, Queue& queue) {
    if (!step.first) {
      if (step.problem->moves()) queue.copy_out(step.from->places);
      queue.wait();  // for the places; and what is filled here was on its way to the last step
    }
    const HostPhase building = queue.on_host(StepPhase::build);
    build_cells(cells, {.places = step.from->places.host.data(), .agents = step.agents()},
                starts.span(), ids.host.span());
    queue.copy_in(ids);
    queue.count_rebuild();
  }
};

}  // namespace strata::neighbours
#endif
