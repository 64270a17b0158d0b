// Bytes and instructions of a step before its search, predicted from the data structure that a rung
// declares, not from its code. Host only.
#pragma once

#include "nbody/neighbours/model/tests.hpp"
#include "nbody/neighbours/problem/problem.hpp"

namespace strata::neighbours {

struct Build {
  double bytes = 0;  ///< read and written by its kernels, each word as often as it is accessed
  double instructions = 0;  ///< issued by its threads, including idle ones
  bool operator==(const Build&) const = default;
};

/// For a step that rebuilds.
using PredictBuild = Build(const Problem& problem, const Choice& choice);
using PredictedBuild = PredictBuild*;

/// One thread per cell reads all agents, twice, with a scan in between.
PredictBuild predict_looking_at_all;
/// Agents are counted and scanned, and sorted: their ids; the agents; with a table of cell
/// positions; with everything that is known of an agent, and its id.
PredictBuild predict_sorted_ids, predict_sorted_agents, predict_sorted_by_table, predict_kept_order;

/// Bytes that any data structure must move between chip and memory in a step: what it reads and
/// writes of the agents, once, except what a cache of this size can keep between steps.
[[nodiscard]] double least_bytes(const Problem& problem, std::uint32_t longest, double cache);

}  // namespace strata::neighbours
