// Agents that the host sorts into cells, before each step that needs them.
#pragma once

#include "nbody/neighbours/cell_search.hpp"
#include "nbody/neighbours/searching.cuh"

#include <cstdint>

namespace strata::neighbours {

struct HostCells {
  Cells cells;
  PinnedBuffer<std::uint32_t> starts;  ///< where each cell begins; one more at the end
  TwoSided<std::uint32_t> ids;

  HostCells(const Problem& problem, const Choice& choice)
      : cells{cells_for(problem, choice)}, starts{cells.all() + 1}, ids{problem.agents} {}

  /// Sorts the agents at the start of a step. The ids of the cells are then being copied to the
  /// GPU; the cell offsets are on the host only. Waits.
  void sort(const DeviceStep& step, Queue& queue) {
    if (!step.first) {
      if (step.problem->moves()) queue.copy_out(step.from->places);
      queue.wait();  // for the positions; also, copies of the previous step from the buffers filled
                     // here are then complete
    }
    const HostPhase building = queue.on_host(StepPhase::build);
    build_cells(cells, {.places = step.from->places.host.data(), .agents = step.agents()},
                starts.span(), ids.host.span());
    queue.copy_in(ids);
    queue.count_rebuild();
  }
};

}  // namespace strata::neighbours
