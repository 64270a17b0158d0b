// Number of distances that each data structure computes, predicted from the agents' positions and
// its definition, in double precision, without the rungs' code. A pair is counted for each of its
// agents, and an agent with itself if it is among its candidates. Host only.
#pragma once

#include "nbody/neighbours/problem/problem.hpp"
#include "nbody/neighbours/problem/search.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace strata::neighbours {

/// Order of the cells.
enum class Curve { z, hilbert };
constexpr auto words_of(Curve /*unused*/) {
  return std::to_array<std::string_view>({"z", "hilbert"});
}

/// Values of a case on a rung's own axes.
struct Choice {
  std::uint32_t cells = 0;  ///< per dimension; 0: most cells that are longer than the reach
  double skin = 0;          ///< beyond the reach, for lists that are kept
  Curve curve = Curve::z;
  bool shown = false;     ///< what drawing needs is copied out after each step
  std::size_t steps = 8;  ///< of a sample
};

/// Threads of a GPU that have no agent, in all steps.
struct IdleThreads {
  std::uint64_t all = 0;
  std::uint64_t active = 0;  ///< idle threads in a warp with a thread that has an agent
  IdleThreads& operator+=(const IdleThreads& more) {
    all += more.all;
    active += more.active;
    return *this;
  }
  bool operator==(const IdleThreads&) const = default;
};

struct Predicted {
  double tests = 0;            ///< mean per step
  std::uint32_t rebuilds = 0;  ///< of the data structure, in all steps
  double used = 0;   ///< fraction of a GPU's threads at work, with one per agent; 0: not predicted
  IdleThreads idle;  ///< if a rung defines which threads have no agent
  std::uint64_t structure_bytes = 0;  ///< copied in all steps for cells that depend on positions
};
/// For steps that start with the agents at these positions.
using PredictTests = Predicted(const Problem& problem, std::span<const Places> steps,
                               const Choice& choice);
using PredictedTests = PredictTests*;

inline constexpr std::size_t warp_lanes = 32;
/// Tests that the warps had room for: each warp runs as long as its thread with the most tests.
[[nodiscard]] std::uint64_t lanes_of(std::span<const std::uint32_t> tests_of_threads);

/// Threads that report `idle` instead of their tests; a warp with only such threads is not active.
[[nodiscard]] IdleThreads idle_of(std::span<const std::uint32_t> tests_of_threads,
                                  std::uint32_t idle);

PredictTests predict_all_pairs;
/// Each agent with the agents of all cells within reach; by threads in cell order; with cells along
/// a curve; of rows of cells along x, which are either within reach or not.
PredictTests predict_cells, predict_packed_cells, predict_curve_cells, predict_rows;
/// Rows of cells, of which each agent tests only the agents after it.
PredictTests predict_half_stencil;
/// Each agent with the agents of columns within reach that are within reach along z.
PredictTests predict_columns;
/// Rows, at a reach longer by the skin, whenever an agent has moved by half the skin; and in each
/// step the pairs found then.
PredictTests predict_lists;
/// For boxes of at most 128 agents, one block each (Breitbart 2008, 7.2): slabs, sorted along x or
/// divided there, and boxes. Each agent tests the agents of all boxes within reach of its own; with
/// early_stop, of all that touch it.
PredictTests predict_slabs, predict_split_slabs, predict_boxes, predict_early_stop;
/// For a tree over the Z curve, eight agents per leaf and eight children per node: each agent tests
/// the leaves that are nearer than the reach or, for boids, than the 7th of the neighbours found so
/// far.
PredictTests predict_tree;

}  // namespace strata::neighbours
