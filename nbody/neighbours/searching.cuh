// Rungs that prepare a step and then launch one kernel for its search.
#pragma once

#include "nbody/neighbours/device_rung.cuh"
#include "nbody/neighbours/model/cells.hpp"

#include <cmath>
#include <cstdint>

namespace strata::neighbours {

[[nodiscard]] inline Cells cells_for(const Problem& problem, const Choice& choice) {
  return cells_of(problem.low(), problem.extent(), std::sqrt(problem.radius_squared), choice.cells);
}

/// Copy policy.
enum class Copies {
  all,  ///< every vector, in before a step and out after it
  lazy  ///< what the search reads, in before the first step; what it writes, out after the last
};

/// A thread for each agent, or as many blocks as the search requires. A search may have the agents
/// in an order of its own.
template <class Search>
void launch_search(void (*kernel)(KernelStep, Search), const DeviceStep& step, const Search& search,
                   Queue& queue) {
  KernelStep all = step.for_kernel();
  if constexpr (requires { search.in_order; }) search.in_order.replace(all);
  if constexpr (requires { search.blocks; }) {
    queue.launch_blocks(kernel, {search.blocks, Search::block}, all, search);
  } else {
    queue.launch(kernel, step.agents(), all, search);
  }
}

/// A rung whose step ends with the kernel kernel_of.operator()<kind>(), which is given the step and
/// what prepare(step, queue) returns. Vectors are on the GPU while that is called.
template <class KernelOf, class Prepare>
[[nodiscard]] DeviceKernel searching(Kind kind, Copies copies, const KernelOf& kernel_of,
                                     const Prepare& prepare) {
  const auto rung_of = [&](auto kernel) -> DeviceKernel {
    const auto step_of = [=](const DeviceStep& step, Queue& queue) {
      const auto in = [&](auto& vector) { queue.copy_in(vector); };
      const auto out = [&](auto& vector) { queue.copy_out(vector); };
      const bool all = copies == Copies::all;
      if (all || step.first) step.visit_read(in);
      if (all) step.visit_written(in);
      const auto search = prepare(step, queue);
      launch_search(kernel, step, search, queue);
      if (all) step.visit_read(out);
      if (all || step.last) step.visit_written(out);
    };
    return {.step = step_of, .kernels = {code_of(kernel)}};
  };
  switch (kind) {
    case Kind::boids:
      return rung_of(kernel_of.template operator()<Kind::boids>());
    case Kind::circles:
      return rung_of(kernel_of.template operator()<Kind::circles>());
    case Kind::list:
      break;
  }
  return rung_of(kernel_of.template operator()<Kind::list>());
}

}  // namespace strata::neighbours
