// How many distances each data structure computes, told from where the agents are: by its
// definition, in double precision, by none of the rungs' code. A pair is counted for each of its
// agents, and an agent with itself where it is among those that it looks at. Host only.
#pragma once

#include "nbody/neighbours/problem/problem.hpp"
#include "nbody/neighbours/reference/search.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace strata::neighbours {

/// Along which cells may follow each other.
enum class Curve { z, hilbert };
constexpr auto words_of(Curve /*unused*/) {
  return std::to_array<std::string_view>({"z", "hilbert"});
}

/// What a case says on a rung's own axes.
struct Choice {
  std::uint32_t cells = 0;  ///< a dimension; 0: the most that are longer than the reach
  double skin = 0;          ///< beyond the reach, of lists that outlast a step
  Curve curve = Curve::z;
  bool shown = false;  ///< what drawing needs is copied out after each step
};

/// Threads of a GPU that have no agent, in all steps.
struct IdleThreads {
  std::uint64_t all = 0;
  std::uint64_t active = 0;  ///< of them, those in a warp with a thread that has one
  IdleThreads& operator+=(const IdleThreads& more) {
    all += more.all;
    active += more.active;
    return *this;
  }
  bool operator==(const IdleThreads&) const = default;
};

struct Predicted {
  double tests = 0;            ///< of a step, in the mean
  std::uint32_t rebuilds = 0;  ///< of the data structure, in all steps
  double used = 0;   ///< part of a GPU's threads at work, with one for each agent; 0: not predicted
  IdleThreads idle;  ///< where a rung says which threads have none
  std::uint64_t structure_bytes = 0;  ///< copied in all steps, of cells that agents' places make
};
/// Of steps before which the agents are at these places.
using PredictedTests = Predicted (*)(const Problem& problem, std::span<const Places> steps,
                                     const Choice& choice);

inline constexpr std::size_t warp_lanes = 32;
/// Tests that warps had room for: each goes on as long as the thread that makes the most.
[[nodiscard]] std::uint64_t lanes_of(std::span<const std::uint32_t> tests_of_threads);

/// Threads that say `idle` in the place of their tests; of warps whose threads all do, none is
/// active.
[[nodiscard]] IdleThreads idle_of(std::span<const std::uint32_t> tests_of_threads,
                                  std::uint32_t idle);

/// Everybody with everybody.
[[nodiscard]] Predicted predict_all_pairs(const Problem& problem, std::span<const Places> steps,
                                          const Choice& choice);
/// Everybody with the agents of all cells within reach.
[[nodiscard]] Predicted predict_cells(const Problem& problem, std::span<const Places> steps,
                                      const Choice& choice);
/// The same, by threads that stand in the order of cells.
[[nodiscard]] Predicted predict_packed_cells(const Problem& problem, std::span<const Places> steps,
                                             const Choice& choice);
/// The same, where cells follow each other along a curve.
[[nodiscard]] Predicted predict_curve_cells(const Problem& problem, std::span<const Places> steps,
                                            const Choice& choice);
/// The same of rows of cells along x: a row is within reach or not.
[[nodiscard]] Predicted predict_rows(const Problem& problem, std::span<const Places> steps,
                                     const Choice& choice);
/// Rows of cells, of which everybody asks who stands behind it.
[[nodiscard]] Predicted predict_half_stencil(const Problem& problem, std::span<const Places> steps,
                                             const Choice& choice);
/// Everybody with the agents of columns within reach that are within reach along z.
[[nodiscard]] Predicted predict_columns(const Problem& problem, std::span<const Places> steps,
                                        const Choice& choice);
/// Rows, at a reach longer by the skin, whenever an agent has moved by half the skin; and in each
/// step the pairs found then.
[[nodiscard]] Predicted predict_lists(const Problem& problem, std::span<const Places> steps,
                                      const Choice& choice);

/// Of boxes of 128 agents at most, a block each (Breitbart 2008, 7.2): slabs, sorted along x or
/// divided there, and boxes. Everybody asks the agents of all that are within reach of its own; by
/// early_stop, of all that touch it.
[[nodiscard]] Predicted predict_slabs(const Problem& problem, std::span<const Places> steps,
                                      const Choice& choice);
[[nodiscard]] Predicted predict_split_slabs(const Problem& problem, std::span<const Places> steps,
                                            const Choice& choice);
[[nodiscard]] Predicted predict_boxes(const Problem& problem, std::span<const Places> steps,
                                      const Choice& choice);
[[nodiscard]] Predicted predict_early_stop(const Problem& problem, std::span<const Places> steps,
                                           const Choice& choice);

/// Of a tree over the Z curve, eight agents a leaf and eight nodes a node: everybody asks the
/// leaves that are nearer than the reach or, of boids, than the 7th of those that it has found.
[[nodiscard]] Predicted predict_tree(const Problem& problem, std::span<const Places> steps,
                                     const Choice& choice);

}  // namespace strata::neighbours
