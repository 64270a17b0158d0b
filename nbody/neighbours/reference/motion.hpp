// Positions of agents after a step, in double precision: the reference for the rungs' motion. Host
// only.
#pragma once

#include "harness/record/gates.hpp"
#include "nbody/neighbours/problem/motion.hpp"
#include "nbody/neighbours/problem/search.hpp"

#include <cstddef>
#include <vector>

namespace strata::neighbours {

struct Motion {
  std::vector<Agent<double>> after;
  /// Agents whose step may differ in single precision, because a number is at a limit: the maximum
  /// angle of a neighbour, a position at the border, a sum of 0.
  std::vector<char> undecided;
};
/// Of agents whose neighbours these are.
[[nodiscard]] Motion motion_of(const Problem& problem, const std::vector<Agent<double>>& agents,
                               const Lists& neighbours);

[[nodiscard]] std::vector<Agent<double>> in_double(const Agents& agents);
[[nodiscard]] Agents in_single(const std::vector<Agent<double>>& agents);
[[nodiscard]] Places places_of(const std::vector<Agent<double>>& agents);

/// Errors of the agents that a rung has moved: of their positions, over the extent of the world,
/// and, for boids, of their velocities, over the root mean square of all. Undecided agents do not
/// count.
[[nodiscard]] std::vector<Accuracy> accuracy_of(const Problem& problem, const Agents& moved,
                                                const Motion& right);

}  // namespace strata::neighbours
