#include "nbody/neighbours/sorted_cells.cuh"

#include <cub/device/device_scan.cuh>

#include <algorithm>

namespace strata::neighbours {
namespace {

/// An agent's rank in its cell is how many were counted before it, in whatever order that was.
__global__ void __launch_bounds__(usual_block)
    count_agents(KernelStep step, Cells cells, std::uint32_t* counts, std::uint32_t* ranks) {
  const std::uint32_t i = thread_number();
  if (i >= step.agents) return;
  ranks[i] = atomicAdd(counts + cells.of(step.place(i)), 1U);
}

__global__ void __launch_bounds__(usual_block)
    put_ids(KernelStep step, Cells cells, const std::uint32_t* starts, const std::uint32_t* ranks,
            std::uint32_t* ids) {
  const std::uint32_t i = thread_number();
  if (i >= step.agents) return;
  ids[starts[cells.of(step.place(i))] + ranks[i]] = i;
}

__global__ void __launch_bounds__(usual_block)
    put_agents(KernelStep step, Cells cells, const std::uint32_t* starts,
               const std::uint32_t* ranks, Standing* standing) {
  const std::uint32_t i = thread_number();
  if (i >= step.agents) return;
  const Vector<float> place = step.place(i);
  standing[starts[cells.of(place)] + ranks[i]] = {place, i};
}

/// In place. Asked without memory, it says how much it needs, and does nothing.
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

SortedCells::SortedCells(const Cells& cells, std::uint32_t agents)
    : cells_{cells},
      starts_{cells.all() + 1},
      ranks_{agents},
      ids_{agents},
      standing_{agents},
      for_scan_{bytes_for_scan(cells.all() + 1)} {
  const Stream stream;
  scan_launches_ = queued_operations(stream, [&] { scan_on(stream.get()); });
}

void SortedCells::scan_on(cudaStream_t stream) {
  std::size_t bytes = for_scan_.size();
  scan_in_place(for_scan_.data(), bytes, starts_.data(), cells_.all() + 1, stream);
}

void SortedCells::scan(Queue& queue) {
  scan_on(queue.stream().get());
  queue.count_launches(scan_launches_);
  queue.count_rebuild();
}

void SortedCells::count(const DeviceStep& step, Queue& queue) {
  queue.clear(starts_);
  queue.launch(count_agents, step.agents(), step.for_kernel(), cells_, starts_.data(),
               ranks_.data());
  scan(queue);
}

AskCells SortedCells::build_ids(const DeviceStep& step, Queue& queue) {
  count(step, queue);
  queue.launch(put_ids, step.agents(), step.for_kernel(), cells_, starts_.data(), ranks_.data(),
               ids_.data());
  return {.cells = cells_, .starts = starts_.data(), .ids = ids_.data()};
}

const Standing* SortedCells::build_standing(const DeviceStep& step, Queue& queue) {
  count(step, queue);
  queue.launch(put_agents, step.agents(), step.for_kernel(), cells_, starts_.data(), ranks_.data(),
               standing_.data());
  return standing_.data();
}

}  // namespace strata::neighbours
