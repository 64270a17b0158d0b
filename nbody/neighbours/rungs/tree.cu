#include "nbody/neighbours/searching.cuh"
#include "nbody/neighbours/tree.hpp"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

namespace strata::neighbours::tree {
namespace {

constexpr unsigned joined_block = branches * branches * branches;  ///< items, one a thread

__global__ void __launch_bounds__(usual_block)
    note_codes(KernelStep step, CurveOf curve, std::uint32_t* codes) {
  const std::uint32_t i = thread_number();
  if (i < step.agents) codes[i] = curve.of(step.place(i));
}

/// Up to three levels above some items, from the lowest on: where their nodes begin, and how many.
struct Above {
  std::uint32_t levels;
  std::uint32_t begin[3];
  std::uint32_t count[3];
};

/// The join of eight neighbouring lanes.
__device__ Bounds joined(Bounds mine) {
  const auto other = [](float one, unsigned lanes) {
    return __shfl_xor_sync(0xFFFFFFFFU, one, lanes);
  };
  for (unsigned lanes = 1; lanes < branches; lanes *= 2) {
    mine.add({{other(mine.low.x, lanes), other(mine.low.y, lanes), other(mine.low.z, lanes)},
              0,
              {other(mine.high.x, lanes), other(mine.high.y, lanes), other(mine.high.z, lanes)},
              0});
  }
  return mine;
}

/// Joins the items of a block, one a thread, into the nodes above them. All threads call it.
__device__ void join(Bounds mine, const Above& above, Bounds* nodes) {
  __shared__ Bounds kept[joined_block / branches];
  unsigned items = joined_block;
#pragma unroll
  for (unsigned level = 0; level < 3; ++level) {
    if (level >= above.levels) return;
    const Bounds together = joined(mine);
    if (threadIdx.x < items && threadIdx.x % branches == 0) {
      const std::uint32_t node = (blockIdx.x * items + threadIdx.x) / branches;
      if (node < above.count[level]) nodes[above.begin[level] + node] = together;
      kept[threadIdx.x / branches] = together;
    }
    __syncthreads();
    items /= branches;
    mine = threadIdx.x < items ? kept[threadIdx.x] : Bounds::empty();
    __syncthreads();  // all have read before the next level is kept
  }
}

/// Agents in the order of the curve, those that fill up the last leaf, and what is above them.
__global__ void __launch_bounds__(joined_block)
    put_leaves(KernelStep step, const std::uint32_t* ids, OrderedAgent* ordered, Above above,
               Bounds* nodes) {
  const std::uint32_t at = blockIdx.x * joined_block + threadIdx.x;
  OrderedAgent mine{{INFINITY, 0, 0}, no_agent};
  Bounds bounds = Bounds::empty();
  if (at < step.agents) {
    mine.id = ids[at];
    mine.place = step.place(mine.id);
    bounds = {mine.place, 0, mine.place, 0};
  }
  if (at < above.count[0] * branches) ordered[at] = mine;
  join(bounds, above, nodes);
}

__global__ void __launch_bounds__(joined_block)
    join_nodes(std::uint32_t begin, std::uint32_t count, Above above, Bounds* nodes) {
  const std::uint32_t at = blockIdx.x * joined_block + threadIdx.x;
  join(at < count ? nodes[begin + at] : Bounds::empty(), above, nodes);
}

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, SearchTree tree) {
  take_step_in_tree<kind>(step, thread_number(), tree);
}

class Tree {
 public:
  explicit Tree(const Problem& problem)
      : shape_{tree_over(problem.agents)},
        curve_{curve_of(problem.low(), problem.extent())},
        codes_{problem.agents},
        sorted_codes_{problem.agents},
        ids_{std::span<const std::uint32_t>{numbers(problem.agents)}},
        sorted_ids_{problem.agents},
        ordered_{std::size_t{shape_.count(shape_.depth)} * branches},
        // Nodes that no agent is below stay as they are.
        nodes_{std::span<const Bounds>{std::vector<Bounds>(shape_.all(), Bounds::empty())}},
        for_sort_{bytes_for_sort()} {
    const Stream stream;
    sort_launches_ = queued_operations(stream, [&] { sort(stream.get()); });
  }

  SearchTree build(const DeviceStep& step, Queue& queue) {
    queue.launch(note_codes, shape_.agents, step.for_kernel(), curve_, codes_.data());
    queue.launch_as("DeviceRadixSortOnesweepKernel", sort_launches_,
                    [&] { sort(queue.stream().get()); });
    queue.launch_blocks(put_leaves, {blocks_for(shape_.agents), joined_block}, step.for_kernel(),
                        sorted_ids_.data(), ordered_.data(), above(shape_.depth + 1),
                        nodes_.data());
    for (std::uint32_t depth = shape_.depth + 1; depth > 3;) {
      depth -= 3;
      queue.launch_blocks(join_nodes, {blocks_for(shape_.count(depth)), joined_block},
                          TreeShape::above(depth), shape_.count(depth), above(depth),
                          nodes_.data());
    }
    queue.count_rebuild();
    return {nodes_.data(), ordered_.data(), shape_.agents, shape_.first_leaf};
  }

 private:
  static std::vector<std::uint32_t> numbers(std::uint32_t agents) {
    std::vector<std::uint32_t> all(agents);
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }
  static std::uint32_t blocks_for(std::uint32_t items) {
    return (items + joined_block - 1) / joined_block;
  }
  /// The levels above what is so deep.
  [[nodiscard]] Above above(std::uint32_t depth) const {
    Above all{.levels = std::min(depth, 3U)};
    for (std::uint32_t level = 0; level < all.levels; ++level) {
      all.begin[level] = TreeShape::above(depth - 1 - level);
      all.count[level] = shape_.count(depth - 1 - level);
    }
    return all;
  }
  /// Without memory, CUB only returns how much it needs.
  void sort_with(void* memory, std::size_t& bytes, cudaStream_t stream) {
    cuda_check(cub::DeviceRadixSort::SortPairs(memory, bytes, codes_.data(), sorted_codes_.data(),
                                               ids_.data(), sorted_ids_.data(), shape_.agents, 0,
                                               curve_bits, stream));
  }
  std::size_t bytes_for_sort() {
    std::size_t bytes = 0;
    sort_with(nullptr, bytes, nullptr);
    return std::max(bytes, std::size_t{1});
  }
  void sort(cudaStream_t stream) {
    std::size_t bytes = for_sort_.size();
    sort_with(for_sort_.data(), bytes, stream);
  }

  TreeShape shape_;
  CurveOf curve_;
  DeviceBuffer<std::uint32_t> codes_;
  DeviceBuffer<std::uint32_t> sorted_codes_;
  DeviceBuffer<std::uint32_t> ids_;
  DeviceBuffer<std::uint32_t> sorted_ids_;
  DeviceBuffer<OrderedAgent> ordered_;
  DeviceBuffer<Bounds> nodes_;
  DeviceBuffer<std::byte> for_sort_;
  std::size_t sort_launches_ = 0;
};

DeviceKernel make(const Problem& problem, const Choice& /*choice*/) {
  const auto tree = std::make_shared<Tree>(problem);
  return searching(
      problem.kind, Copies::lazy, [&]<Kind kind>() { return step_of<kind>; },
      [tree](const DeviceStep& step, Queue& queue) { return tree->build(step, queue); });
}

STRATA_RUNG("neighbours_tree", make);

}  // namespace
}  // namespace strata::neighbours::tree
