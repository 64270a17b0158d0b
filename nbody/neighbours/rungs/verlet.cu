#include "nbody/neighbours/lasting_lists.hpp"
#include "nbody/neighbours/sorted_cells.cuh"

#include <algorithm>
#include <memory>

namespace strata::neighbours::verlet {
namespace {

__global__ void __launch_bounds__(usual_block) follow(KernelStep step, LastingLists lists) {
  lists.follow(step, thread_number());
}
__global__ void __launch_bounds__(usual_block, usual_blocks)
    renew(KernelStep step, LastingLists lists) {
  lists.renew(step, thread_number());
}
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, LastingLists lists) {
  take_step_listed<kind>(step, thread_number(), lists);
}

class Lists {
 public:
  Lists(const Problem& problem, const Choice& choice)
      : skin_{choice.skin},
        reach_{std::sqrt(static_cast<double>(problem.radius_squared)) + choice.skin},
        sorted_{cells_of(problem.low(), problem.extent(), reach_, choice.cells), problem.agents},
        is_old_{1},
        made_at_{3 * std::size_t{problem.agents}},
        counts_{problem.agents},
        lists_{std::size_t{room_} * problem.agents},
        tests_{problem.agents} {}

  LastingLists build(const DeviceStep& step, Queue& queue) {
    make(step, queue, step.first);
    if (step.tests == nullptr) return lists();
    // While it is verified, the host reads the length of lists, and whether they were made.
    for (;;) {
      queue.wait();
      const std::uint32_t longest = std::ranges::max(counts_.to_host());
      if (longest <= room_) break;
      room_ = list_room(longest);
      lists_ = DeviceBuffer<std::uint32_t>{std::size_t{room_} * step.agents()};
      make(step, queue, /*anew=*/true);
    }
    if (is_old_.to_host().front() != 0) queue.count_rebuild();
    return lists();
  }

 private:
  /// `anew`: whether agents have moved or not.
  void make(const DeviceStep& step, Queue& queue, bool anew) {
    queue.fill(is_old_, anew ? 1 : 0);
    queue.launch(follow, step.agents(), step.for_kernel(), lists());
    sorted_.sort_agents(step, queue, is_old_.data());
    queue.launch(renew, step.agents(), step.for_kernel(), lists());
  }
  [[nodiscard]] LastingLists lists() {
    return {.cells = sorted_.cells(),
            .reach_squared = static_cast<float>(reach_ * reach_),
            .moved_squared = lasting(skin_),
            .is_old = is_old_.data(),
            .starts = sorted_.starts(),
            .ordered = sorted_.ordered(),
            .made_at = made_at_.data(),
            .counts = counts_.data(),
            .lists = lists_.data(),
            .tests = tests_.data(),
            .room = room_};
  }

  std::uint32_t room_ = list_room(0);
  double skin_;
  double reach_;
  SortedCells sorted_;
  DeviceBuffer<std::uint32_t> is_old_;
  DeviceBuffer<float> made_at_;
  DeviceBuffer<std::uint32_t> counts_;
  DeviceBuffer<std::uint32_t> lists_;
  DeviceBuffer<std::uint32_t> tests_;
};

DeviceKernel make(const Problem& problem, const Choice& choice) {
  const auto lists = std::make_shared<Lists>(problem, choice);
  DeviceKernel kernel = searching(
      problem.kind, Copies::lazy, [&]<Kind kind>() { return step_of<kind>; },
      [lists](const DeviceStep& step, Queue& queue) { return lists->build(step, queue); });
  kernel.kernels.insert(kernel.kernels.end(), {code_of(follow), code_of(renew)});
  kernel.in_any_order = true;
  return kernel;
}

STRATA_RUNG("neighbours_verlet", make);

}  // namespace
}  // namespace strata::neighbours::verlet
