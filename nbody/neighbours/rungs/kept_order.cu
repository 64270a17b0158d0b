#include "nbody/neighbours/sorted_cells.cuh"

#include <memory>

namespace strata::neighbours::kept_order {
namespace {

const Rung rung{
    .name = "neighbours_kept_order",
    .backend = Backend::cuda,
    .before = "neighbours_runs",
    .costs = {.issue_slots = 14.5, .build = predict_kept_order},
    .question = "How much does it gain to keep agents in cell order from step to step?",
    .change =
        "everything that is known of an agent moves into cell order, with its id; a step reads and "
        "writes there, and the next one starts from that order",
    .source =
        "Anderson, Lorenz and Travesset, Journal of Computational Physics 227, 2008: HOOMD sorts "
        "particles along a curve every few hundred steps",
    .expectation =
        "as many tests as runs. In runs an agent's state, its results and its neighbours' "
        "directions are at its id: each word of 4 bytes costs a sector of 32. In cell order a "
        "warp's words are adjacent, and from the second step on the sort itself moves few agents "
        "far. Little gain while all data fit into L2, much beyond it",
    .predicted_tests = predict_rows,
    .predicted_traffic = predict_kept_order,
    .kernel_phases = {{"put_in_order", StepPhase::build}},
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
__global__ void __launch_bounds__(usual_block)
    put_in_order(KernelStep step, AskOwnOrder search, const std::uint32_t* ranks,
                 Standing* standing, const std::uint32_t* ids, std::uint32_t* to_ids) {
  const std::uint32_t i = thread_number();
  if (i >= step.agents) return;
  const Vector<float> place = step.place(i);
  const std::uint32_t at = search.starts[search.cells.of(place)] + ranks[i];
  standing[at] = {place, at};
  to_ids[at] = ids[i];
  step.put(search.in_order.places, at, place);
  if (search.in_order.speeds == nullptr) return;
  step.put(search.in_order.forwards, at, step.triple(step.forwards, i));
  search.in_order.speeds[at] = step.speeds[i];
}

template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskOwnOrder search) {
  take_step_standing<kind>(step, thread_number(), search);
}

class Order {
 public:
  Order(const Problem& problem, const Choice& choice)
      : sorted_{cells_for(problem, choice), problem.agents},
        places_{3 * std::size_t{problem.agents}},
        moving_{problem.kind == Kind::boids ? 4 * std::size_t{problem.agents} : 1} {}

  AskOwnOrder build(const DeviceStep& step, Queue& queue) {
    sorted_.count(step, queue);
    const bool moving = step.problem->kind == Kind::boids;
    const AskOwnOrder search{
        {sorted_.cells(), sorted_.starts(), sorted_.standing()},
        {.places = places_.data(),
         .forwards = moving ? moving_.data() : nullptr,
         .speeds = moving ? moving_.data() + 3 * std::size_t{step.agents()} : nullptr}};
    queue.launch(put_in_order, step.agents(), step.for_kernel(), search, sorted_.ranks(),
                 sorted_.standing(), step.from->ids.device.data(), step.to->ids.device.data());
    return search;
  }

 private:
  SortedCells sorted_;
  DeviceBuffer<float> places_;
  DeviceBuffer<float> moving_;  ///< directions, then speeds, of boids
};

DeviceKernel make(const Problem& problem, const Choice& choice) {
  const auto order = std::make_shared<Order>(problem, choice);
  DeviceKernel kernel = searching(
      problem.kind, Copies::lazy, [&]<Kind kind>() { return step_of<kind>; },
      [order](const DeviceStep& step, Queue& queue) { return order->build(step, queue); });
  kernel.in_any_order = true;
  kernel.reorders = true;
  return kernel;
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::kept_order
