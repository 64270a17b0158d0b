// Agents that stay in cell order from step to step, with all that is known of them.
#pragma once

#include "nbody/neighbours/sorted_cells.cuh"

#include <memory>

namespace strata::neighbours {

class OwnOrder {
 public:
  OwnOrder(const Problem& problem, const Choice& choice);

  /// Queues the sort of a step, whose search then reads and writes agents at their positions.
  [[nodiscard]] SearchOwnOrder build(const DeviceStep& step, Queue& queue);

 private:
  SortedCells sorted_;
  DeviceBuffer<float> places_;
  DeviceBuffer<float> moving_;  ///< directions, then speeds, of boids
};

/// A rung whose kernels search agents in their own order.
template <class KernelOf>
[[nodiscard]] DeviceKernel searching_own_order(const Problem& problem, const Choice& choice,
                                               const KernelOf& kernel_of) {
  const auto order = std::make_shared<OwnOrder>(problem, choice);
  DeviceKernel kernel = searching(
      problem.kind, Copies::lazy, kernel_of,
      [order](const DeviceStep& step, Queue& queue) { return order->build(step, queue); });
  kernel.in_any_order = true;
  kernel.reorders = true;
  return kernel;
}

}  // namespace strata::neighbours
