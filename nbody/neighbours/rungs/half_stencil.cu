#include "nbody/neighbours/sorted_cells.cuh"

#if defined(__CUDACC__)
#include "nbody/neighbours/half_stencil.hpp"
#endif

#include <algorithm>
#include <memory>

namespace strata::neighbours::half_stencil {
namespace {

const Rung rung{
    .name = "neighbours_half_stencil",
    .backend = Backend::cuda,
    .before = "neighbours_runs",
    .costs = {.build = predict_sorted_agents},
    .question = "How much does it gain to test each pair once?",
    .change =
        "a thread tests only agents after its own in cell order, and adds a neighbour to the lists "
        "of both, with atomic additions; a second kernel moves each agent by its list. (The rung "
        "pair_once of gravity has that name already.)",
    .source =
        "Plimpton, Fast parallel algorithms for short-range molecular dynamics, Journal of "
        "Computational Physics 117, 1995: Newton's third law, which LAMMPS does not use on GPUs",
    .expectation =
        "half the tests, not counting those of the lists, but two atomic additions and two "
        "scattered stores per pair within reach: for circles and lists, where a sixth of the tests "
        "are hits, more than the saved tests; for boids, which have fewer neighbours, as fast as "
        "runs",
    .predicted_tests = predict_half_stencil,
    .predicted_traffic = predict_half_stencil,
    .kernel_phases = {{"find", StepPhase::search}},
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
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
    const auto runs = ask_in_order<AskRuns>(sorted_, step, queue);
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
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::half_stencil
