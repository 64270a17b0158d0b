// Boxes of agents that the host makes before each step, one for each block of the search.
#pragma once

#include "nbody/neighbours/boxes.hpp"
#include "nbody/neighbours/searching.cuh"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace strata::neighbours {

/// The cells that a block needs. `Cell`: a Slab or a Box.
template <class Cell>
struct SearchBoxes {
  static constexpr unsigned block = box_size;  ///< threads
  const Cell* cells;
  const OrderedAgent* ordered;
  std::uint32_t blocks;
  float limit;  ///< squared distance up to which a box is searched
};

/// Cells on both sides.
template <class Cell>
class HostBoxes {
 public:
  explicit HostBoxes(std::uint32_t agents)
      : ordered_{agents}, on_host_{agents}, on_device_{agents} {}

  /// divide(agents, world) orders the agents and returns their cells. Waits.
  template <class Divide>
  SearchBoxes<Cell> build(const DeviceStep& step, Queue& queue, float limit, const Divide& divide) {
    if (!step.first) {
      if (step.problem->moves()) queue.copy_out(step.from->places);
      queue.wait();  // for the positions; also, copies of the previous step from the buffers filled
                     // here are then complete
    }
    const HostPhase building = queue.on_host(StepPhase::build);
    const KernelStep places{.places = step.from->places.host.data(), .agents = step.agents()};
    const std::span<OrderedAgent> agents = ordered_.host.span();
    for (std::uint32_t i = 0; i < step.agents(); ++i)
      agents[i] = {places.place(i), i};
    const std::vector<Cell> cells = divide(agents, world_of(*step.problem));
    std::ranges::copy(cells, on_host_.data());
    queue.copy_in(ordered_);
    const std::size_t bytes = cells.size() * sizeof(Cell);
    queue.copy(Activity::Of::copy_in, bytes, [&] {
      cuda_check(cudaMemcpyAsync(on_device_.data(), on_host_.data(), bytes, cudaMemcpyHostToDevice,
                                 queue.stream().get()));
    });
    queue.count_rebuild();
    return {on_device_.data(), ordered_.device.data(), static_cast<std::uint32_t>(cells.size()),
            limit};
  }

 private:
  TwoSided<OrderedAgent> ordered_;
  PinnedBuffer<Cell> on_host_;
  DeviceBuffer<Cell> on_device_;
};

/// A rung whose host divides the agents of each step with divide(agents, world).
template <class Cell, class KernelOf>
[[nodiscard]] DeviceKernel searching_boxes(const Problem& problem, float limit,
                                           const KernelOf& kernel_of,
                                           std::vector<Cell> (*divide)(std::span<OrderedAgent>,
                                                                       const World&)) {
  const auto host = std::make_shared<HostBoxes<Cell>>(problem.agents);
  DeviceKernel kernel =
      searching(problem.kind, Copies::lazy, kernel_of, [=](const DeviceStep& step, Queue& queue) {
        return host->build(step, queue, limit, divide);
      });
  kernel.block = box_size;
  kernel.most_threads = std::size_t{problem.agents} * box_size;  // if each were alone in its box
  return kernel;
}

/// The work of a thread of a block with a box: it tests all agents that the block loads into shared
/// memory. If the box has fewer agents than the block has threads, the other threads only load.
template <Kind kind>
class BoxThread {
 public:
  __device__ BoxThread(const KernelStep& step, const OrderedAgent* ordered, std::uint32_t first,
                       std::uint32_t count, OrderedAgent* tile)
      : ordered_{ordered},
        tile_{tile},
        real_{threadIdx.x < count},
        mine_{ordered[first + (real_ ? threadIdx.x : 0)]},
        found_{step, mine_.id} {}

  /// Tests `count` agents, at most as many as a box has. All threads of the block call it.
  __device__ void test_agents(std::uint32_t first, std::uint32_t count) {
    OrderedAgent other{{INFINITY, 0, 0}, no_agent};
    if (threadIdx.x < count) other = ordered_[first + threadIdx.x];
    tile_[threadIdx.x] = other;
    __syncthreads();
    if (real_) {
#pragma unroll 1
      for (std::uint32_t k = 0; k < count; k += group_size)
        test_group(mine_.place, tile_ + k, found_);
    }
    __syncthreads();
    tests_ += count;
  }
  __device__ void end(const KernelStep& step) const {
    if (step.tests != nullptr) {
      step.tests[blockIdx.x * box_size + threadIdx.x] = real_ ? tests_ : idle_thread;
    }
    if (real_) found_.end(step);
  }

 private:
  const OrderedAgent* ordered_;
  OrderedAgent* tile_;
  bool real_;
  OrderedAgent mine_;
  Gathering<kind> found_;
  std::uint32_t tests_ = 0;
};

/// A block searches the agents within reach of its slab, which are contiguous.
template <Kind kind>
__device__ inline void walk_slab(const KernelStep& step, const SearchBoxes<Slab>& search) {
  __shared__ OrderedAgent tile[box_size];
  const Slab mine = search.cells[blockIdx.x];
  BoxThread<kind> thread{step, search.ordered, mine.first, mine.count, tile};
#pragma unroll 1
  for (std::uint32_t at = mine.from; at < mine.to; at += box_size)
    thread.test_agents(at, min(box_size, mine.to - at));
  thread.end(step);
}

/// A block tests all boxes, one per thread, and searches the agents of those within reach.
template <Kind kind>
__device__ inline void walk_boxes(const KernelStep& step, const SearchBoxes<Box>& search) {
  constexpr unsigned lanes = 32;
  __shared__ OrderedAgent tile[box_size];
  __shared__ std::uint32_t near[box_size / lanes];
  const Box mine = search.cells[blockIdx.x];
  BoxThread<kind> thread{step, search.ordered, mine.first, mine.count, tile};
#pragma unroll 1
  for (std::uint32_t first = 0; first < search.blocks; first += box_size) {
    const std::uint32_t one = first + threadIdx.x;
    const bool is_near = one < search.blocks && are_near(mine, search.cells[one], search.limit);
    const unsigned of_warp = __ballot_sync(0xFFFFFFFFU, is_near);
    if (threadIdx.x % lanes == 0) near[threadIdx.x / lanes] = of_warp;
    __syncthreads();
#pragma unroll 1
    for (unsigned warp = 0; warp < box_size / lanes; ++warp) {
#pragma unroll 1
      for (std::uint32_t left = near[warp]; left != 0; left &= left - 1) {
        const Box& box = search.cells[first + warp * lanes + lowest_bit(left)];
        thread.test_agents(box.first, box.count);
      }
    }
    __syncthreads();  // all threads have read which boxes are near
  }
  thread.end(step);
}

}  // namespace strata::neighbours
