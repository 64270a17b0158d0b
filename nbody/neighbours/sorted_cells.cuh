// Agents sorted into cells on the GPU: counted, scanned and sorted, as part of the step that needs
// them.
#pragma once

#include "nbody/neighbours/cell_search.hpp"
#include "nbody/neighbours/searching.cuh"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace strata::neighbours {

class SortedCells {
 public:
  /// `places`: position of each cell; empty: its number.
  SortedCells(const Cells& cells, std::uint32_t agents,
              const std::vector<std::uint32_t>& places = {});

  [[nodiscard]] const Cells& cells() const { return cells_; }
  /// The begin of each cell; one more at the end.
  [[nodiscard]] std::uint32_t* starts() const { return starts_.data(); }
  [[nodiscard]] std::uint32_t* ids() const { return ids_.data(); }
  [[nodiscard]] OrderedAgent* ordered() const { return ordered_.data(); }
  /// Null: cells are in the order of their numbers.
  [[nodiscard]] const std::uint32_t* places() const { return places_ ? places_->data() : nullptr; }

  /// Of each agent within its cell, once they are counted.
  [[nodiscard]] const std::uint32_t* ranks() const { return ranks_.data(); }

  /// Queues counting of agents and the scan. `enabled`: a flag on the GPU, skipped if 0; null:
  /// always.
  void count(const DeviceStep& step, Queue& queue, const std::uint32_t* enabled = nullptr);
  /// Turns counts (one more at the end) into begins.
  void scan(Queue& queue);
  /// Queues sorting of agent ids by cell, in any order within a cell.
  SearchCellIds build_ids(const DeviceStep& step, Queue& queue);
  /// The same for the agents themselves; `enabled` as above.
  void sort_agents(const DeviceStep& step, Queue& queue, const std::uint32_t* enabled = nullptr);

 private:
  void scan_on(cudaStream_t stream);

  Cells cells_;
  std::optional<DeviceBuffer<std::uint32_t>> places_;
  DeviceBuffer<std::uint32_t> starts_;
  DeviceBuffer<std::uint32_t> ranks_;  ///< of each agent within its cell
  DeviceBuffer<std::uint32_t> ids_;
  DeviceBuffer<OrderedAgent> ordered_;
  DeviceBuffer<std::byte> for_scan_;
  std::size_t scan_launches_;
};

/// Sorts the agents themselves by cell, for a `Search` of them.
template <class Search>
[[nodiscard]] Search search_in_order(SortedCells& sorted, const DeviceStep& step, Queue& queue) {
  sorted.sort_agents(step, queue);
  return {.cells = sorted.cells(), .starts = sorted.starts(), .ordered = sorted.ordered()};
}

/// A rung that sorts agents into cells in each step: build(cells, step, queue) does that, and
/// returns the arguments of its kernel.
template <class KernelOf, class Build>
[[nodiscard]] DeviceKernel searching_sorted(const Problem& problem, const Choice& choice,
                                            const KernelOf& kernel_of, const Build& build,
                                            const std::vector<std::uint32_t>& places = {}) {
  const auto sorted =
      std::make_shared<SortedCells>(cells_for(problem, choice), problem.agents, places);
  DeviceKernel kernel =
      searching(problem.kind, Copies::lazy, kernel_of,
                [=](const DeviceStep& step, Queue& queue) { return build(*sorted, step, queue); });
  kernel.in_any_order = true;
  return kernel;
}

}  // namespace strata::neighbours
