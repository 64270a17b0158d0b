// What a step must move and issue before it searches, told by what a rung's file says that it
// builds, by none of its code. Host only.
#pragma once

#include "nbody/neighbours/model/tests.hpp"
#include "nbody/neighbours/problem/problem.hpp"

namespace strata::neighbours {

struct Build {
  double bytes = 0;         ///< read and written by its kernels, each word as often as one asks
  double instructions = 0;  ///< that its threads issue, idle ones among them
  bool operator==(const Build&) const = default;
};

/// Of a step that builds.
using PredictedBuild = Build (*)(const Problem& problem, const Choice& choice);

/// A thread for each cell looks at all agents, twice; between them a scan.
[[nodiscard]] Build predict_looking_at_all(const Problem& problem, const Choice& choice);
/// Agents are counted and scanned, and their numbers put in order.
[[nodiscard]] Build predict_sorted_ids(const Problem& problem, const Choice& choice);
/// The same, with agents put in order themselves.
[[nodiscard]] Build predict_sorted_agents(const Problem& problem, const Choice& choice);
/// The same, where a table says where a cell stands.
[[nodiscard]] Build predict_sorted_by_table(const Problem& problem, const Choice& choice);

/// Bytes that any data structure must move between chip and memory in a step: what it reads and
/// writes of agents, once, but for what a cache of this size can keep from one step to the next.
[[nodiscard]] double least_bytes(const Problem& problem, std::uint32_t longest, double cache);

}  // namespace strata::neighbours
