// Rungs that test all pairs.
#pragma once

#include "nbody/neighbours/searching.cuh"

#include <cmath>
#include <cstdint>

namespace strata::neighbours {

/// A search of all pairs, which needs no preparation.
template <class KernelOf>
[[nodiscard]] DeviceKernel searching_all(Kind kind, Copies copies, const KernelOf& kernel_of) {
  return searching(kind, copies, kernel_of, [](const DeviceStep&, Queue&) { return SearchAll{}; });
}

/// All-pairs search, tiled through shared memory: each agent is read once for a whole block, and
/// one test decides whether any agent of a group is near. Padding of the last tile is out of reach
/// of all agents.
template <Kind kind>
__device__ inline void walk_tiles(const KernelStep& step) {
  __shared__ OrderedAgent tile[usual_block];
  const std::uint32_t i = thread_number();
  const bool real = i < step.agents;
  const Vector<float> me = step.place(real ? i : 0);
  Gathering<kind> found{step, i};
#pragma unroll 1
  for (std::uint32_t start = 0; start < step.agents; start += usual_block) {
    const std::uint32_t j = start + threadIdx.x;
    OrderedAgent other{{INFINITY, 0, 0}, no_agent};
    if (j < step.agents) other = {step.place(j), j};
    tile[threadIdx.x] = other;
    __syncthreads();
    if (real) {
      const OrderedAgent* group =
          tile;  // from an index, its address is computed anew for each group
#pragma unroll 1
      for (unsigned left = usual_block; left > 0; left -= group_size, group += group_size)
        test_group(me, group, found);
    }
    __syncthreads();
  }
  if (!real) return;
  found.end(step);
  if (step.tests != nullptr) step.tests[i] = step.agents;
}

}  // namespace strata::neighbours
