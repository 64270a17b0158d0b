// Agents that rungs go wrong on, and the choices of a rung: for rungs on a CPU and on a GPU.
#pragma once

#include "nbody/neighbours/ladder.hpp"
#include "nbody/neighbours/verification.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace strata::neighbours {

struct Set {
  std::string name;
  Problem problem;
  ReferenceStep right;
};

inline Problem problem_of(Kind kind, std::uint32_t agents, Spread spread = Spread::uniform) {
  Problem problem{.kind = kind, .spread = spread, .agents = agents};
  problem.radius_squared = usual_radius_squared(kind);
  // So small that boids of these tests have neighbours, and more than 7 of them.
  problem.world = kind == Kind::boids ? 12 : usual_world(kind, agents, spread);
  return problem;
}
inline Set generated(Kind kind, std::uint32_t agents, Spread spread) {
  const Problem problem = problem_of(kind, agents, spread);
  return {std::to_string(agents) + ' ' + std::string{to_string(spread)}, problem,
          reference_step(problem, generate(problem))};
}
/// Agents at these places, in the order of x, that head along y.
inline Set placed(std::string name, Kind kind, const std::vector<std::array<float, 3>>& places) {
  const Problem problem = problem_of(kind, static_cast<std::uint32_t>(places.size()));
  Agents agents{places.size()};
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c)
      agents.parts[c][i] = places[i][c];
    if (kind != Kind::boids) continue;
    agents.part(Part::fy)[i] = 1;
    agents.part(Part::speed)[i] = 3;
  }
  check(name, problem, agents);
  return {std::move(name), problem, reference_step(problem, std::move(agents))};
}

/// Agents on the corners of cubes of edge 1, all of which are on the borders of cells of edge 4.
inline std::vector<std::array<float, 3>> corners() {
  std::vector<std::array<float, 3>> places;
  for (const float x : {0.0F, 1.0F, 2.0F, 3.0F, 4.0F}) {
    for (const float y : {0.0F, 2.0F, 4.0F}) {
      for (const float z : {0.0F, 2.0F, 3.0F, 4.0F})
        places.push_back({x, y, z});
    }
  }
  return places;
}

inline std::vector<Set> sets_of(Kind kind) {
  std::vector<Set> sets;
  for (const Spread spread : {Spread::uniform, Spread::clustered}) {
    for (const std::uint32_t agents : {1U, 2U, 37U, 130U, 400U})
      sets.push_back(generated(kind, agents, spread));
  }
  sets.push_back(placed("two at one place", kind, {{1, 1, 1}, {1, 1, 1}}));
  sets.push_back(placed("eight at one place", kind, std::vector(8, std::array{1.0F, 2.0F, 3.0F})));
  // At a distance of just the reach, and a step of the lattice less.
  const float reach = 3;
  sets.push_back(kind == Kind::boids
                     ? placed("at the reach", kind,
                              {{-reach, 0, 0}, {0, reach, 0}, {0, reach - 0x1p-8F, 6}, {3, 6, 3}})
                     : placed("at the reach", kind,
                              {{0, 0, 0}, {2, 0, 0}, {2, 2 - 0x1p-9F, 0}, {2, 2, 2}, {4, 4, 4}}));
  if (kind == Kind::boids) return sets;  // the 7th and the 8th would be equally far
  sets.push_back(
      placed("a hundred at one place", kind, std::vector(100, std::array{1.F, 1.F, 1.F})));
  sets.push_back(placed("on borders", kind, corners()));
  for (const std::uint32_t agents : {1U, 37U, 400U})
    sets.push_back(generated(kind, agents, Spread::jittered));
  return sets;
}
inline const std::vector<Set>& all_sets() {
  static const std::vector<Set> all = [] {
    std::vector<Set> sets;
    for (const Kind kind : {Kind::boids, Kind::circles, Kind::list}) {
      for (Set& set : sets_of(kind)) {
        set.name = std::string{to_string(kind)} + ", " + set.name;
        sets.push_back(std::move(set));
      }
    }
    return sets;
  }();
  return all;
}

/// Cells that are longer than the reach, and some that are shorter than half of it.
inline std::vector<Choice> choices_of(const Rung& rung) {
  const double skin = rung.has_axis("skin") ? 0.5 : 0;
  if (!rung.has_axis("cells")) return {{}};
  std::vector<Choice> all{
      {.cells = 0, .skin = skin}, {.cells = 1, .skin = skin}, {.cells = 14, .skin = skin}};
  if (rung.has_axis("curve")) all.push_back({.cells = 14, .curve = Curve::hilbert});
  return all;
}

}  // namespace strata::neighbours
