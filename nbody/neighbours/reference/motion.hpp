// Where agents are after a step, in double precision: what the rungs' own motion is held against.
// Host only.
#pragma once

#include "harness/record/gates.hpp"
#include "nbody/neighbours/problem/motion.hpp"
#include "nbody/neighbours/reference/search.hpp"

#include <cstddef>
#include <vector>

namespace strata::neighbours {

struct Motion {
  std::vector<Agent<double>> after;
  /// Agents whose step single precision may decide otherwise, because a number lies at a limit: an
  /// angle at that up to which a neighbour counts, a place at the border, a sum at 0.
  std::vector<char> undecided;
};
/// Of agents whose neighbours these are.
[[nodiscard]] Motion motion_of(const Problem& problem, const std::vector<Agent<double>>& agents,
                               const Lists& neighbours);

[[nodiscard]] std::vector<Agent<double>> in_double(const Agents& agents);
[[nodiscard]] Agents in_single(const std::vector<Agent<double>>& agents);
[[nodiscard]] Places places_of(const std::vector<Agent<double>>& agents);

/// How far the agents that a rung has moved are from there: their places, over the extent of the
/// world, and, of boids, their velocities, over the root mean square of all. Undecided agents do
/// not count.
[[nodiscard]] std::vector<Accuracy> accuracy_of(const Problem& problem, const Agents& moved,
                                                const Motion& right);

}  // namespace strata::neighbours
