// All pairs, one agent at a time. Host only.
#pragma once

#include "nbody/neighbours/host/collect.hpp"

namespace strata::neighbours {

/// Finds the neighbours of agent i among all, in storage order.
template <class Collector>
void test_all_agents(const Step& step, std::size_t rank, std::uint32_t i, Collector& collector) {
  collector.begin(i);
  const std::size_t tests =
      test_run({.x = step.part(Part::px), .y = step.part(Part::py), .z = step.part(Part::pz)}, 0,
               step.agents(), place_of(step, i), collector);
  step.work[rank].tests += tests;
  step.work[rank].lanes += tests;
  collector.end();
}

}  // namespace strata::neighbours
