#include "nbody/neighbours/own_order.cuh"

namespace strata::neighbours {
namespace {

__global__ void __launch_bounds__(usual_block)
    put_in_order(KernelStep step, SearchOwnOrder search, const std::uint32_t* ranks,
                 OrderedAgent* ordered, const std::uint32_t* ids, std::uint32_t* to_ids) {
  const std::uint32_t i = thread_number();
  if (i >= step.agents) return;
  const Vector<float> place = step.place(i);
  const std::uint32_t at = search.starts[search.cells.of(place)] + ranks[i];
  ordered[at] = {place, at};
  to_ids[at] = ids[i];
  step.put(search.in_order.places, at, place);
  if (search.in_order.speeds == nullptr) return;
  step.put(search.in_order.forwards, at, step.triple(step.forwards, i));
  search.in_order.speeds[at] = step.speeds[i];
}

}  // namespace

OwnOrder::OwnOrder(const Problem& problem, const Choice& choice)
    : sorted_{cells_for(problem, choice), problem.agents},
      places_{3 * std::size_t{problem.agents}},
      moving_{problem.kind == Kind::boids ? 4 * std::size_t{problem.agents} : 1} {}

SearchOwnOrder OwnOrder::build(const DeviceStep& step, Queue& queue) {
  sorted_.count(step, queue);
  const bool moving = step.problem->kind == Kind::boids;
  const SearchOwnOrder search{
      {sorted_.cells(), sorted_.starts(), sorted_.ordered()},
      {.places = places_.data(),
       .forwards = moving ? moving_.data() : nullptr,
       .speeds = moving ? moving_.data() + 3 * std::size_t{step.agents()} : nullptr}};
  queue.launch(put_in_order, step.agents(), step.for_kernel(), search, sorted_.ranks(),
               sorted_.ordered(), step.from->ids.device.data(), step.to->ids.device.data());
  return search;
}

}  // namespace strata::neighbours
