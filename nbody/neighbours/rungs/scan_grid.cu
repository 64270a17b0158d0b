#include "nbody/neighbours/sorted_cells.cuh"

namespace strata::neighbours::scan_grid {
namespace {

/// Calls found(i) for every agent of a cell, by one thread for each cell.
template <class Found>
__device__ void look_at_all(const KernelStep& step, const Cells& cells, std::uint32_t cell,
                            const Found& found) {
  __shared__ std::uint32_t tile[usual_block];
#pragma unroll 1
  for (std::uint32_t start = 0; start < step.agents; start += usual_block) {
    const std::uint32_t j = start + threadIdx.x;
    tile[threadIdx.x] = j < step.agents ? cells.of(step.place(j)) : no_agent;
    __syncthreads();
    for (unsigned k = 0; k < usual_block; ++k) {
      if (tile[k] == cell) found(start + k);
    }
    __syncthreads();
  }
}

/// The number behind the last cell is 0: the scan makes it the sum of all.
__global__ void __launch_bounds__(usual_block)
    count(KernelStep step, Cells cells, std::uint32_t all, std::uint32_t* counts) {
  const std::uint32_t cell = thread_number();
  std::uint32_t mine = 0;
  look_at_all(step, cells, cell, [&](std::uint32_t /*i*/) { ++mine; });
  if (cell <= all) counts[cell] = mine;
}

__global__ void __launch_bounds__(usual_block)
    fill(KernelStep step, Cells cells, std::uint32_t all, const std::uint32_t* starts,
         std::uint32_t* ids) {
  const std::uint32_t cell = thread_number();
  std::uint32_t at = cell < all ? starts[cell] : 0;
  look_at_all(step, cells, cell < all ? cell : no_agent - 1,
              [&](std::uint32_t i) { ids[at++] = i; });
}

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, SearchCellIds search) {
  take_own_step<kind>(step, thread_number(), search);
}

SearchCellIds build(SortedCells& sorted, const DeviceStep& step, Queue& queue) {
  const Cells& cells = sorted.cells();
  const std::uint32_t all = cells.all();
  queue.launch(count, all + 1, step.for_kernel(), cells, all, sorted.starts());
  sorted.scan(queue);
  queue.count_rebuild();
  queue.launch(fill, all, step.for_kernel(), cells, all, sorted.starts(), sorted.ids());
  return {.cells = cells, .starts = sorted.starts(), .ids = sorted.ids()};
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  DeviceKernel kernel = searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, build);
  kernel.kernels.insert(kernel.kernels.end(), {code_of(count), code_of(fill)});
  kernel.in_any_order = false;  // each cell's thread notes its agents in the order of their numbers
  return kernel;
}

STRATA_RUNG("neighbours_scan_grid", make);

}  // namespace
}  // namespace strata::neighbours::scan_grid
