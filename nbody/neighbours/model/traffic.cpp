#include "nbody/neighbours/model/traffic.hpp"

#include "nbody/neighbours/model/cells.hpp"

#include <cmath>

namespace strata::neighbours {
namespace {

constexpr std::uint64_t word_bytes = 4;
constexpr std::uint64_t scan_launches = 2;  // CUB: one sets the tiles' states, one scans
// CUB's radix sort of 32-bit numbers: so many by one block; else two fills, a histogram and its
// scan, and in each pass over eight bits, of the 30 of a place on the curve, a fill and a kernel.
constexpr std::uint64_t agents_sorted_by_a_block = std::uint64_t{256} * 19;
constexpr std::uint64_t sort_passes = 4;

/// Copies of some vectors, and words of an agent in them.
struct Vectors {
  std::uint64_t count = 0;
  std::uint64_t words = 0;
};
Vectors operator+(const Vectors& a, const Vectors& b) {
  return {a.count + b.count, a.words + b.words};
}

/// Boids: places, directions and speeds. Of others: places.
Vectors of_agents(const Problem& problem) {
  return problem.kind == Kind::boids ? Vectors{3, part_count} : Vectors{1, 3};
}
/// Numbers of neighbours and, unless circles, their ids.
Vectors of_results(const Problem& problem, std::uint32_t longest) {
  switch (problem.kind) {
    case Kind::boids:
      return {2, 1 + nearest_count};
    case Kind::circles:
      return {1, 1};
    case Kind::list:
      return {2, 1 + std::uint64_t{list_room(longest)}};
  }
  return {};
}
Vectors of_what_is_written(const Problem& problem, std::uint32_t longest) {
  const Vectors results = of_results(problem, longest);
  return problem.moves() ? of_agents(problem) + results : results;
}
Traffic copied(const Problem& problem, const Vectors& vectors, std::uint64_t times) {
  return {.copies = times * vectors.count,
          .bytes = times * vectors.words * word_bytes * problem.agents};
}

Traffic lazy(const Problem& problem, std::size_t steps, std::uint32_t longest,
             std::uint64_t launches_of_step) {
  return copied(problem, of_agents(problem) + of_what_is_written(problem, longest), 1) +
         Traffic{.launches = steps * launches_of_step};
}

}  // namespace

Traffic predict_copying(const Problem& problem, const Choice& /*choice*/, std::size_t steps,
                        std::uint32_t longest) {
  return copied(problem, of_agents(problem) + of_what_is_written(problem, longest), 2 * steps) +
         Traffic{.launches = steps};
}

Traffic predict_lazy(const Problem& problem, const Choice& /*choice*/, std::size_t steps,
                     std::uint32_t longest) {
  return lazy(problem, steps, longest, 1);
}

Traffic predict_host_grid(const Problem& problem, const Choice& choice, std::size_t steps,
                          std::uint32_t longest) {
  const Cells cells =
      cells_of(problem.low(), problem.extent(),
               std::sqrt(static_cast<double>(problem.radius_squared)), choice.cells);
  const Traffic begins{.copies = steps, .bytes = steps * word_bytes * (cells.all() + 1)};
  return lazy(problem, steps, longest, 1) +
         copied(problem, {1, 3}, problem.moves() ? steps - 1 : 0) + begins +
         copied(problem, {1, 1}, steps);
}

Traffic predict_host_boxes(const Problem& problem, const Choice& /*choice*/, std::size_t steps,
                           std::uint32_t longest) {
  return lazy(problem, steps, longest, 1) +
         copied(problem, {1, 3}, problem.moves() ? steps - 1 : 0) + copied(problem, {1, 4}, steps) +
         Traffic{.copies = steps};
}

Traffic predict_scan_grid(const Problem& problem, const Choice& /*choice*/, std::size_t steps,
                          std::uint32_t longest) {
  return lazy(problem, steps, longest, 3 + scan_launches);
}

Traffic predict_counting_sort(const Problem& problem, const Choice& /*choice*/, std::size_t steps,
                              std::uint32_t longest) {
  return lazy(problem, steps, longest, 4 + scan_launches);
}

Traffic predict_kept_order(const Problem& problem, const Choice& choice, std::size_t steps,
                           std::uint32_t longest) {
  return predict_counting_sort(problem, choice, steps, longest) + copied(problem, {1, 1}, 2);
}

Traffic predict_half_stencil(const Problem& problem, const Choice& /*choice*/, std::size_t steps,
                             std::uint32_t longest) {
  return lazy(problem, steps, longest, (problem.moves() ? 6 : 5) + scan_launches);
}

Traffic predict_persistent(const Problem& problem, const Choice& /*choice*/, std::size_t /*steps*/,
                           std::uint32_t longest) {
  return lazy(problem, 1, longest, 1);
}

Traffic predict_tree(const Problem& problem, const Choice& /*choice*/, std::size_t steps,
                     std::uint32_t longest) {
  std::uint64_t levels = 1;  // of nodes; the lowest are leaves of eight agents
  for (std::uint64_t nodes = (problem.agents + 7) / 8; nodes > 1; nodes = (nodes + 7) / 8)
    ++levels;
  const std::uint64_t sort = problem.agents <= agents_sorted_by_a_block ? 1 : 4 + 2 * sort_passes;
  return lazy(problem, steps, longest, 2 + sort + (levels + 2) / 3);
}

Traffic predict_verlet(const Problem& problem, const Choice& /*choice*/, std::size_t steps,
                       std::uint32_t longest) {
  return lazy(problem, steps, longest, 7 + scan_launches);
}

Traffic predict_shown(const Problem& problem, std::size_t steps) {
  constexpr std::uint64_t matrix = 16 * word_bytes;
  return {.copies = steps, .bytes = steps * matrix * problem.agents, .launches = steps};
}

}  // namespace strata::neighbours
