#include "nbody/neighbours/hit_queue.hpp"
#include "nbody/neighbours/sorted_cells.cuh"

#include <cub/device/device_scan.cuh>

#include <algorithm>

namespace strata::neighbours {
namespace {

/// The number of the cell at a place.
__device__ std::uint32_t cell_of(const Cells& cells, const std::uint32_t* places,
                                 const Vector<float>& place) {
  const std::uint32_t cell = cells.of(place);
  return places == nullptr ? cell : places[cell];
}

/// An agent's rank in its cell is how many were counted before it, in whatever order that was.
__global__ void __launch_bounds__(usual_block)
    count_agents(KernelStep step, Cells cells, const std::uint32_t* places, std::uint32_t* counts,
                 std::uint32_t* ranks, const std::uint32_t* enabled) {
  const std::uint32_t i = thread_number();
  if (i >= step.agents || (enabled != nullptr && *enabled == 0)) return;
  ranks[i] = atomicAdd(counts + cell_of(cells, places, step.place(i)), 1U);
}

__global__ void __launch_bounds__(usual_block)
    put_ids(KernelStep step, Cells cells, const std::uint32_t* starts, const std::uint32_t* ranks,
            std::uint32_t* ids) {
  const std::uint32_t i = thread_number();
  if (i >= step.agents) return;
  ids[starts[cells.of(step.place(i))] + ranks[i]] = i;
}

__global__ void __launch_bounds__(usual_block)
    put_agents(KernelStep step, Cells cells, const std::uint32_t* places,
               const std::uint32_t* starts, const std::uint32_t* ranks, OrderedAgent* ordered,
               const std::uint32_t* enabled) {
  const std::uint32_t i = thread_number();
  if (i >= step.agents || (enabled != nullptr && *enabled == 0)) return;
  const Vector<float> place = step.place(i);
  ordered[starts[cell_of(cells, places, place)] + ranks[i]] = {place, i};
}

/// In place. Without memory it only returns how much it needs.
void scan_in_place(void* memory, std::size_t& bytes, std::uint32_t* counts, std::uint32_t count,
                   cudaStream_t stream) {
  cuda_check(cub::DeviceScan::ExclusiveSum(memory, bytes, counts, counts, count, stream));
}
std::size_t bytes_for_scan(std::uint32_t count) {
  std::size_t bytes = 0;
  scan_in_place(nullptr, bytes, nullptr, count, nullptr);
  return std::max(bytes, std::size_t{1});
}

}  // namespace

SortedCells::SortedCells(const Cells& cells, std::uint32_t agents,
                         const std::vector<std::uint32_t>& places)
    : cells_{cells},
      starts_{cells.all() + 1},
      ranks_{agents},
      ids_{agents},
      ordered_{agents + SearchWithQueue::batch},
      for_scan_{bytes_for_scan(cells.all() + 1)} {
  if (!places.empty()) places_.emplace(std::span{places}, Where::current());
  const Stream stream;
  ordered_.poison(0, stream.get());  // what is read behind the last agent is no garbage
  scan_launches_ = queued_operations(stream, [&] { scan_on(stream.get()); });
}

void SortedCells::scan_on(cudaStream_t stream) {
  std::size_t bytes = for_scan_.size();
  scan_in_place(for_scan_.data(), bytes, starts_.data(), cells_.all() + 1, stream);
}

void SortedCells::scan(Queue& queue) {
  queue.launch_as("DeviceScanKernel", scan_launches_, [&] { scan_on(queue.stream().get()); });
}

void SortedCells::count(const DeviceStep& step, Queue& queue, const std::uint32_t* enabled) {
  queue.clear(starts_);
  queue.launch(count_agents, step.agents(), step.for_kernel(), cells_, places(), starts_.data(),
               ranks_.data(), enabled);
  scan(queue);
  if (enabled == nullptr) queue.count_rebuild();
}

SearchCellIds SortedCells::build_ids(const DeviceStep& step, Queue& queue) {
  count(step, queue, nullptr);
  queue.launch(put_ids, step.agents(), step.for_kernel(), cells_, starts_.data(), ranks_.data(),
               ids_.data());
  return {.cells = cells_, .starts = starts_.data(), .ids = ids_.data()};
}

void SortedCells::sort_agents(const DeviceStep& step, Queue& queue, const std::uint32_t* enabled) {
  count(step, queue, enabled);
  queue.launch(put_agents, step.agents(), step.for_kernel(), cells_, places(), starts_.data(),
               ranks_.data(), ordered_.data(), enabled);
}

}  // namespace strata::neighbours
