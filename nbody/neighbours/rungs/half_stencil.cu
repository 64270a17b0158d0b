#include "nbody/neighbours/half_stencil.hpp"
#include "nbody/neighbours/sorted_cells.cuh"

#include <algorithm>
#include <memory>

namespace strata::neighbours::half_stencil {
namespace {

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    find(KernelStep step, HalfStencil pairs) {
  pairs.find<kind>(step, thread_number());
}
/// Of agents at rest: nothing is left to do once pairs are found.
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, HalfStencil pairs) {
  if constexpr (kind == Kind::list) {
    pairs.find<kind>(step, thread_number());
  } else {
    take_step_noted<kind>(step, thread_number(), pairs);
  }
}

class Pairs {
 public:
  Pairs(const Problem& problem, const Choice& choice)
      : sorted_{cells_for(problem, choice), problem.agents},
        counts_{problem.agents},
        lists_{problem.moves() ? std::size_t{room_} * problem.agents : 1} {}

  HalfStencil build(const DeviceStep& step, Queue& queue) {
    const auto runs = search_in_order<SearchRows>(sorted_, step, queue);
    if (!step.problem->moves()) {
      queue.clear(step.results->counts.device);
      return {.runs = runs};
    }
    for (;;) {
      const HalfStencil pairs{runs, counts_.data(), lists_.data(), room_};
      queue.clear(counts_);
      queue.launch(step.problem->kind == Kind::boids ? find<Kind::boids> : find<Kind::circles>,
                   step.agents(), step.for_kernel(), pairs);
      if (step.tests == nullptr) return pairs;
      // While it is verified, the host reads the length of lists.
      queue.wait();
      const std::uint32_t longest = std::ranges::max(counts_.to_host());
      if (longest <= room_) return pairs;
      room_ = list_room(longest);
      lists_ = DeviceBuffer<std::uint32_t>{std::size_t{room_} * step.agents()};
    }
  }

 private:
  std::uint32_t room_ = list_room(0);
  SortedCells sorted_;
  DeviceBuffer<std::uint32_t> counts_;
  DeviceBuffer<std::uint32_t> lists_;
};

DeviceKernel make(const Problem& problem, const Choice& choice) {
  const auto pairs = std::make_shared<Pairs>(problem, choice);
  DeviceKernel kernel = searching(
      problem.kind, Copies::lazy, [&]<Kind kind>() { return step_of<kind>; },
      [pairs](const DeviceStep& step, Queue& queue) { return pairs->build(step, queue); });
  if (problem.kind == Kind::boids) kernel.kernels.push_back(code_of(find<Kind::boids>));
  if (problem.kind == Kind::circles) kernel.kernels.push_back(code_of(find<Kind::circles>));
  kernel.in_any_order = true;
  return kernel;
}

STRATA_RUNG("neighbours_half_stencil", make);

}  // namespace
}  // namespace strata::neighbours::half_stencil
