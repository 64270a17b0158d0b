// Agents sorted into cells on the GPU: counted, scanned and put where they belong, inside of the
// step that needs them.
#pragma once

#include "nbody/neighbours/device_rung.cuh"

#if defined(__CUDACC__)
#include <cstddef>
#include <cstdint>
#include <memory>

namespace strata::neighbours {

class SortedCells {
 public:
  SortedCells(const Cells& cells, std::uint32_t agents);

  [[nodiscard]] const Cells& cells() const { return cells_; }
  /// Where each cell begins; one more at the end.
  [[nodiscard]] std::uint32_t* starts() const { return starts_.data(); }
  [[nodiscard]] std::uint32_t* ids() const { return ids_.data(); }

  /// Counts, one more at the end, become beginnings.
  void scan(Queue& queue);
  /// Queues what brings agents' numbers into the order of cells, those of a cell in any order.
  AskCells build_ids(const DeviceStep& step, Queue& queue);
  /// The same of agents themselves.
  const Standing* build_standing(const DeviceStep& step, Queue& queue);

 private:
  void count(const DeviceStep& step, Queue& queue);
  void scan_on(cudaStream_t stream);

  Cells cells_;
  DeviceBuffer<std::uint32_t> starts_;
  DeviceBuffer<std::uint32_t> ranks_;  ///< of each agent in its cell
  DeviceBuffer<std::uint32_t> ids_;
  DeviceBuffer<Standing> standing_;
  DeviceBuffer<std::byte> for_scan_;
  std::size_t scan_launches_;
};

/// Puts agents themselves into the order of cells, for a `Search` of them.
template <class Search>
[[nodiscard]] Search ask_in_order(SortedCells& sorted, const DeviceStep& step, Queue& queue) {
  const Standing* const standing = sorted.build_standing(step, queue);
  return {.cells = sorted.cells(), .starts = sorted.starts(), .standing = standing};
}

/// A rung that sorts agents into cells in each step: build(cells, step, queue) does it, and returns
/// what its kernel is given.
template <class KernelOf, class Build>
[[nodiscard]] DeviceKernel searching_sorted(const Problem& problem, const Choice& choice,
                                            const KernelOf& kernel_of, const Build& build) {
  const auto sorted = std::make_shared<SortedCells>(cells_for(problem, choice), problem.agents);
  DeviceKernel kernel =
      searching(problem.kind, Copies::lazy, kernel_of,
                [=](const DeviceStep& step, Queue& queue) { return build(*sorted, step, queue); });
  kernel.in_any_order = true;
  return kernel;
}

}  // namespace strata::neighbours
#endif
