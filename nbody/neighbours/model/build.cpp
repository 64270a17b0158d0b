#include "nbody/neighbours/model/build.hpp"

#include "nbody/neighbours/model/cells.hpp"
#include "nbody/neighbours/model/traffic.hpp"

#include <algorithm>
#include <cmath>

namespace strata::neighbours {
namespace {

constexpr double word = 4;
constexpr double position = 3 * word;
constexpr double ordered = 4 * word;  // a position and a number, once they are in order

double cells_and_end(const Problem& problem, const Choice& choice) {
  const double radius = std::sqrt(static_cast<double>(problem.radius_squared));
  return cells_of(problem.low(), problem.extent(), radius, choice.cells).all() + 1.0;
}
/// Counts become beginnings.
double scan(double cells) {
  return 2 * word * cells;
}
/// The counts begin at 0; each agent reads its position, adds to a count and notes its rank; then
/// it reads position, beginning and rank once more and writes `put`. `looks` into a table, in all.
Build sorted(const Problem& problem, const Choice& choice, double put, double looks) {
  const double cells = cells_and_end(problem, choice);
  const double of_agent = (position + 2 * word) + (position + 2 * word + put) + looks * word;
  return {.bytes = word * cells + scan(cells) + of_agent * problem.agents, .instructions = 0};
}

}  // namespace

Build predict_looking_at_all(const Problem& problem, const Choice& choice) {
  constexpr double block = 128;
  // Of a cell and an agent, in the machine code of either loop (compute capability 9.0).
  constexpr double counting = 107.0 / 32;
  constexpr double filling = 120.0 / 16;
  const double cells = cells_and_end(problem, choice);
  const auto blocks_of = [](double threads) { return std::ceil(threads / block); };
  const double looks = blocks_of(problem.agents) * block;  // the last tile is filled up
  const double counts = blocks_of(cells);
  const double fills = blocks_of(cells - 1);
  return {.bytes = (counts + fills) * position * problem.agents + scan(cells) +
                   word * (2 * cells + problem.agents),
          .instructions = block * looks * (counts * counting + fills * filling)};
}

Build predict_sorted_ids(const Problem& problem, const Choice& choice) {
  return sorted(problem, choice, word, 0);
}

Build predict_sorted_agents(const Problem& problem, const Choice& choice) {
  return sorted(problem, choice, ordered, 0);
}

Build predict_kept_order(const Problem& problem, const Choice& choice) {
  const double id = 2 * word;
  const double moving = problem.kind == Kind::boids ? 2 * 4 * word : 0;  // read and written
  return sorted(problem, choice, ordered + position + id + moving, 0);
}

Build predict_sorted_by_table(const Problem& problem, const Choice& choice) {
  return sorted(problem, choice, ordered, 2);
}

double least_bytes(const Problem& problem, std::uint32_t longest, double cache) {
  const auto once = static_cast<double>(predict_lazy(problem, {}, 1, longest).bytes);
  return std::max(once - cache, 0.0);
}

}  // namespace strata::neighbours
