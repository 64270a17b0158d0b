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
using PredictedTraffic = Traffic (*)(const Problem& problem, const Choice& choice,
                                     std::size_t steps, std::uint32_t longest);

/// Every vector in before each step and out after it; a kernel.
[[nodiscard]] Traffic predict_copying(const Problem& problem, const Choice& choice,
                                      std::size_t steps, std::uint32_t longest);
/// What is read, in before the first step; what is written, out after the last; a kernel a step.
[[nodiscard]] Traffic predict_lazy(const Problem& problem, const Choice& choice, std::size_t steps,
                                   std::uint32_t longest);
/// As lazy, but each step also copies positions out (if they changed) and cells in.
[[nodiscard]] Traffic predict_host_grid(const Problem& problem, const Choice& choice,
                                        std::size_t steps, std::uint32_t longest);
/// As lazy, but each step also copies positions out (if they changed), and in the agents in the
/// order of their boxes and the boxes, whose bytes Predicted has.
[[nodiscard]] Traffic predict_host_boxes(const Problem& problem, const Choice& choice,
                                         std::size_t steps, std::uint32_t longest);
/// Lazy, with two kernels around a scan before that of the search.
[[nodiscard]] Traffic predict_scan_grid(const Problem& problem, const Choice& choice,
                                        std::size_t steps, std::uint32_t longest);
/// Lazy, with a fill and two kernels around a scan before that of the search.
[[nodiscard]] Traffic predict_counting_sort(const Problem& problem, const Choice& choice,
                                            std::size_t steps, std::uint32_t longest);
/// The same, with ids in and out.
[[nodiscard]] Traffic predict_kept_order(const Problem& problem, const Choice& choice,
                                         std::size_t steps, std::uint32_t longest);
/// As counting_sort, with a fill more; where agents move, and a kernel more.
[[nodiscard]] Traffic predict_half_stencil(const Problem& problem, const Choice& choice,
                                           std::size_t steps, std::uint32_t longest);
/// Lazy, with one kernel for all steps.
[[nodiscard]] Traffic predict_persistent(const Problem& problem, const Choice& choice,
                                         std::size_t steps, std::uint32_t longest);
/// Lazy, with a kernel, a radix sort and one kernel for every three levels before that of the
/// search.
[[nodiscard]] Traffic predict_tree(const Problem& problem, const Choice& choice, std::size_t steps,
                                   std::uint32_t longest);
/// As counting_sort, with a fill and two kernels more, whether or not lists are made.
[[nodiscard]] Traffic predict_verlet(const Problem& problem, const Choice& choice,
                                     std::size_t steps, std::uint32_t longest);

/// Beside those of a rung, where agents are shown: after each step a kernel and a copy out.
[[nodiscard]] Traffic predict_shown(const Problem& problem, std::size_t steps);

}  // namespace strata::neighbours
