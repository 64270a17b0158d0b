// How many distances each data structure computes, told from where the agents are: by its
// definition, in double precision, by none of the rungs' code. A pair is counted for each of its
// agents, and an agent with itself where it is among those that it looks at. Host only.
#pragma once

#include "nbody/neighbours/problem/problem.hpp"
#include "nbody/neighbours/reference/search.hpp"

#include <cstdint>
#include <span>

namespace strata::neighbours {

/// What a case says on a rung's own axes.
struct Choice {
  std::uint32_t cells = 0;  ///< a dimension; 0: the most that are longer than the reach
  double skin = 0;          ///< beyond the reach, of lists that outlast a step
};

struct Predicted {
  double tests = 0;            ///< of a step, in the mean
  std::uint32_t rebuilds = 0;  ///< of the data structure, in all steps
  double used = 0;  ///< part of a GPU's threads at work, with one for each agent; 0: not predicted
};
/// Of steps before which the agents are at these places.
using PredictedTests = Predicted (*)(const Problem& problem, std::span<const Places> steps,
                                     const Choice& choice);

inline constexpr std::size_t warp_lanes = 32;
/// Tests that warps had room for: each goes on as long as the thread that makes the most.
[[nodiscard]] std::uint64_t lanes_of(std::span<const std::uint32_t> tests_of_threads);

/// Everybody with everybody.
[[nodiscard]] Predicted predict_all_pairs(const Problem& problem, std::span<const Places> steps,
                                          const Choice& choice);
/// Everybody with the agents of all cells within reach.
[[nodiscard]] Predicted predict_cells(const Problem& problem, std::span<const Places> steps,
                                      const Choice& choice);
/// The same, by threads that stand in the order of cells.
[[nodiscard]] Predicted predict_packed_cells(const Problem& problem, std::span<const Places> steps,
                                             const Choice& choice);
/// The same of rows of cells along x: a row is within reach or not.
[[nodiscard]] Predicted predict_rows(const Problem& problem, std::span<const Places> steps,
                                     const Choice& choice);
/// Everybody with the agents of columns within reach that are within reach along z.
[[nodiscard]] Predicted predict_columns(const Problem& problem, std::span<const Places> steps,
                                        const Choice& choice);
/// Rows, at a reach longer by the skin, whenever an agent has moved by half the skin; and in each
/// step the pairs found then.
[[nodiscard]] Predicted predict_lists(const Problem& problem, std::span<const Places> steps,
                                      const Choice& choice);

}  // namespace strata::neighbours
