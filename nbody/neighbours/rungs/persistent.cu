#include "harness/cuda/reduce.cuh"
#include "nbody/neighbours/row_search.hpp"
#include "nbody/neighbours/searching.cuh"

#include <cub/block/block_scan.cuh>

#include <algorithm>
#include <cooperative_groups.h>
#include <memory>
#include <vector>

namespace strata::neighbours::persistent {
namespace {

namespace groups = cooperative_groups;

/// Data shared by the steps. The begins of cells are there twice: a step clears what the next one
/// counts in.
struct Grid {
  Cells cells;
  std::uint32_t begins;     ///< cells, and one more
  std::uint32_t* starts;    ///< of even steps; of odd ones, behind them
  std::uint32_t* ranks;     ///< of each agent in its cell
  OrderedAgent* ordered;    ///< in the order of cells
  std::uint32_t* of_block;  ///< agents in the cells that a block scans
};

/// Calls visit(i) for each number below `count`, by one thread of the grid.
template <class Visit>
__device__ void share(std::uint32_t count, const Visit& visit) {
  for (std::uint32_t i = thread_number(); i < count; i += gridDim.x * usual_block)
    visit(i);
}

/// Counts become beginnings: each block adds up its part of them, and then what is before it.
__device__ void scan(const groups::grid_group& all, const Grid& grid, std::uint32_t* starts) {
  using Scan = cub::BlockScan<std::uint32_t, usual_block>;
  __shared__ typename Scan::TempStorage memory;
  __shared__ std::uint32_t of_earlier_blocks;
  const std::uint32_t part = (grid.begins + gridDim.x - 1) / gridDim.x;
  const std::uint32_t begin = min(blockIdx.x * part, grid.begins);
  const std::uint32_t end = min(begin + part, grid.begins);

  std::uint32_t mine = 0;
  for (std::uint32_t at = begin + threadIdx.x; at < end; at += usual_block)
    mine += starts[at];
  const std::uint32_t agents = block_sum(mine);
  if (threadIdx.x == 0) grid.of_block[blockIdx.x] = agents;
  all.sync();

  std::uint32_t earlier = 0;
  for (std::uint32_t block = threadIdx.x; block < blockIdx.x; block += usual_block)
    earlier += grid.of_block[block];
  earlier = block_sum(earlier);
  if (threadIdx.x == 0) of_earlier_blocks = earlier;
  __syncthreads();
  std::uint32_t before = of_earlier_blocks;
  for (std::uint32_t first = begin; first < end; first += usual_block) {
    const std::uint32_t at = first + threadIdx.x;
    std::uint32_t sum = 0;
    std::uint32_t here = 0;
    Scan{memory}.ExclusiveSum(at < end ? starts[at] : 0, sum, here);
    if (at < end) starts[at] = before + sum;
    before += here;
    __syncthreads();  // the next scan needs the memory of this one
  }
}

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep even, KernelStep odd, std::uint32_t steps, Grid grid) {
  const groups::grid_group all = groups::this_grid();
  share(grid.begins, [&](std::uint32_t cell) { grid.starts[cell] = 0; });
  all.sync();
  for (std::uint32_t number = 0; number < steps; ++number) {
    KernelStep step = even;
    std::uint32_t* starts = grid.starts;
    std::uint32_t* next = grid.starts + grid.begins;
    if (number % 2 == 1) {
      step.places = odd.places;
      step.forwards = odd.forwards;
      step.speeds = odd.speeds;
      step.to_places = odd.to_places;
      step.to_forwards = odd.to_forwards;
      step.to_speeds = odd.to_speeds;
      next = grid.starts;
      starts = grid.starts + grid.begins;
    }
    share(step.agents, [&](std::uint32_t i) {
      grid.ranks[i] = atomicAdd(starts + grid.cells.of(step.place(i)), 1U);
    });
    all.sync();
    scan(all, grid, starts);
    all.sync();
    share(step.agents, [&](std::uint32_t i) {
      const Vector<float> place = step.place(i);
      grid.ordered[starts[grid.cells.of(place)] + grid.ranks[i]] = {place, i};
    });
    all.sync();
    const SearchRows search{grid.cells, starts, grid.ordered};
    share(step.agents, [&](std::uint32_t at) { take_step_in_order<kind>(step, at, search); });
    share(grid.begins, [&](std::uint32_t cell) { next[cell] = 0; });
    all.sync();
  }
}

using StepKernel = void (*)(KernelStep, KernelStep, std::uint32_t, Grid);

/// Notes steps until the last one, and takes them together.
class Steps {
 public:
  Steps(const Problem& problem, const Choice& choice, StepKernel kernel)
      : kernel_{kernel},
        cells_{cells_for(problem, choice)},
        blocks_{blocks_for(kernel, std::max(problem.agents, cells_.all() + 1))},
        starts_{2 * std::size_t{cells_.all() + 1}},
        ranks_{problem.agents},
        ordered_{problem.agents},
        of_block_{blocks_} {}

  void take(const DeviceStep& step, Queue& queue) {
    if (step.first) {
      noted_.clear();
      step.visit_read([&](auto& vector) { queue.copy_in(vector); });
    }
    noted_.push_back(step.for_kernel());
    queue.count_rebuild();
    if (!step.last) return;
    launch(queue);
    noted_.clear();
    step.visit_written([&](auto& vector) { queue.copy_out(vector); });
  }

 private:
  /// At most those resident on the GPU at once, and those with work.
  static std::uint32_t blocks_for(StepKernel kernel, std::uint32_t threads) {
    int device = 0;
    int can = 0;
    int sms = 0;
    int of_sm = 0;
    cuda_check(cudaGetDevice(&device));
    cuda_check(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device));
    if (can == 0) throw Skipped{"this GPU has no cooperative launch"};
    cuda_check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_sm, kernel, usual_block, 0));
    const auto most = static_cast<std::uint32_t>(sms * of_sm);
    return std::min(most, (threads + usual_block - 1) / usual_block);
  }

  /// Steps go to and fro between two sets of vectors: those of the first two are those of all.
  void launch(Queue& queue) {
    KernelStep even = noted_.front();
    KernelStep odd = noted_[noted_.size() > 1 ? 1 : 0];
    auto steps = static_cast<std::uint32_t>(noted_.size());
    Grid grid{cells_,        cells_.all() + 1, starts_.data(),
              ranks_.data(), ordered_.data(),  of_block_.data()};
    void* arguments[] = {&even, &odd, &steps, &grid};
    queue.launch_as("step_of", 1, [&] {
      cuda_check(cudaLaunchCooperativeKernel(code_of(kernel_), blocks_, usual_block, arguments, 0,
                                             queue.stream().get()));
    });
  }

  StepKernel kernel_;
  Cells cells_;
  std::uint32_t blocks_;
  DeviceBuffer<std::uint32_t> starts_;
  DeviceBuffer<std::uint32_t> ranks_;
  DeviceBuffer<OrderedAgent> ordered_;
  DeviceBuffer<std::uint32_t> of_block_;
  std::vector<KernelStep> noted_;
};

DeviceKernel make(const Problem& problem, const Choice& choice) {
  const StepKernel kernel = problem.kind == Kind::boids     ? step_of<Kind::boids>
                            : problem.kind == Kind::circles ? step_of<Kind::circles>
                                                            : step_of<Kind::list>;
  const auto steps = std::make_shared<Steps>(problem, choice, kernel);
  return {.step = [steps](const DeviceStep& step, Queue& queue) { steps->take(step, queue); },
          .kernels = {code_of(kernel)},
          .in_any_order = true};
}

STRATA_RUNG("neighbours_persistent", make);

}  // namespace
}  // namespace strata::neighbours::persistent
