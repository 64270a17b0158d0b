// Copies and launches of the steps of a sample, predicted from the description of a rung, without
// its code. Host only.
#pragma once

#include "harness/model/queued.hpp"
#include "nbody/neighbours/model/tests.hpp"
#include "nbody/neighbours/problem/problem.hpp"

#include <cstddef>
#include <cstdint>

namespace strata::neighbours {

using Traffic = Queued;  ///< one copy of each vector

/// Room for the neighbours of an agent, where the longest list has so many: lists begin with room
/// for 32, and grow by as many until nothing is cut.
inline constexpr std::uint32_t list_grain = 32;
[[nodiscard]] constexpr std::uint32_t list_room(std::uint32_t longest) {
  return (longest > 1 ? (longest + list_grain - 1) / list_grain : 1) * list_grain;
}

/// Of so many steps, whose longest list has `longest` neighbours.
using PredictTraffic = Traffic(const Problem& problem, const Choice& choice, std::size_t steps,
                               std::uint32_t longest);
using PredictedTraffic = PredictTraffic*;

/// Every vector in before each step and out after it; a kernel.
PredictTraffic predict_copying;
/// What is read, in before the first step; what is written, out after the last; a kernel a step.
PredictTraffic predict_lazy;
/// As lazy, but each step also copies positions out (if they changed), and in the cells; or the
/// agents in the order of their boxes and the boxes, whose bytes Predicted has.
PredictTraffic predict_host_grid, predict_host_boxes;
/// Lazy, with two kernels around a scan before that of the search; or with a fill as well.
PredictTraffic predict_scan_grid, predict_counting_sort;
/// As counting_sort, with ids in and out.
PredictTraffic predict_kept_order;
/// As counting_sort, with a fill more; where agents move, and a kernel more.
PredictTraffic predict_half_stencil;
/// As counting_sort, with a fill and two kernels more, whether or not lists are made.
PredictTraffic predict_verlet;
/// Lazy, with one kernel for all steps.
PredictTraffic predict_persistent;
/// Lazy, with a kernel, a radix sort and one kernel for every three levels before that of the
/// search.
PredictTraffic predict_tree;

/// Beside those of a rung, where agents are shown: after each step a kernel and a copy out.
[[nodiscard]] Traffic predict_shown(const Problem& problem, std::size_t steps);

}  // namespace strata::neighbours
