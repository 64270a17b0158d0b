// Boxes of agents, divided in double precision from where the agents are, and every pair of them
// held against the reach.
#include "nbody/neighbours/model/cells.hpp"
#include "nbody/neighbours/model/tests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace strata::neighbours {
namespace {

constexpr std::size_t box_room = 128;  // agents at most, and threads
using Point = std::array<double, 3>;

struct BoxPart {
  Point low{};
  Point high{};
  std::vector<std::uint32_t> agents;
};
using BoxParts = std::vector<BoxPart>;
using Divide = BoxParts (*)(const Problem&, const Places&);

std::vector<std::uint32_t> all_agents(const Places& places) {
  std::vector<std::uint32_t> all(places.front().size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

BoxParts sorted_along_x(const Problem& /*problem*/, const Places& places) {
  std::vector<std::uint32_t> all = all_agents(places);
  std::ranges::stable_sort(all, {}, [&](std::uint32_t i) { return places[0][i]; });
  BoxParts parts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % box_room == 0) parts.push_back({.low = {places[0][all[i]]}});
    parts.back().agents.push_back(all[i]);
    parts.back().high = {places[0][all[i]]};
  }
  return parts;
}

/// Divided at the mean, along the axis that axis_for(mean, part) names, while there are too many.
template <class AxisFor>
// NOLINTNEXTLINE(misc-no-recursion): each part has fewer agents
void divide(const Places& places, BoxPart part, const AxisFor& axis_for, BoxParts& to) {
  const std::size_t count = part.agents.size();
  if (count <= box_room) {
    to.push_back(std::move(part));
    return;
  }
  Point mean{};
  for (std::size_t c = 0; c < mean.size(); ++c) {
    for (const std::uint32_t i : part.agents)
      mean[c] += places[c][i];
    mean[c] /= static_cast<double>(count);
  }
  const std::size_t axis = axis_for(mean, part);
  BoxPart above = part;
  part.high[axis] = mean[axis];
  above.low[axis] = mean[axis];
  const auto is_below = [&](std::uint32_t i) { return places[axis][i] < mean[axis]; };
  std::erase_if(part.agents, std::not_fn(is_below));
  std::erase_if(above.agents, is_below);
  if (part.agents.empty()) {
    part.agents.assign(above.agents.begin(),
                       above.agents.begin() + static_cast<std::ptrdiff_t>(count / 2));
    above.agents.erase(above.agents.begin(),
                       above.agents.begin() + static_cast<std::ptrdiff_t>(count / 2));
  }
  divide(places, std::move(part), axis_for, to);
  divide(places, std::move(above), axis_for, to);
}

BoxPart world_of(const Problem& problem, const Places& places) {
  const auto low = static_cast<double>(problem.low());
  const double high = low + static_cast<double>(problem.extent());
  return {.low = {low, low, low}, .high = {high, high, high}, .agents = all_agents(places)};
}

BoxParts divided_along_x(const Problem& problem, const Places& places) {
  BoxParts parts;
  divide(
      places, world_of(problem, places),
      [](const Point&, const BoxPart&) { return std::size_t{0}; }, parts);
  return parts;
}

BoxParts divided_near_borders(const Problem& problem, const Places& places) {
  BoxParts parts;
  const auto nearest_border = [](const Point& mean, const BoxPart& part) {
    Point off{};
    for (std::size_t c = 0; c < off.size(); ++c)
      off[c] = std::min(mean[c] - part.low[c], part.high[c] - mean[c]);
    return static_cast<std::size_t>(std::ranges::min_element(off) - off.begin());
  };
  divide(places, world_of(problem, places), nearest_border, parts);
  return parts;
}

/// Along the first `axes` axes.
double squared_gap(const BoxPart& a, const BoxPart& b, std::size_t axes) {
  double sum = 0;
  for (std::size_t c = 0; c < axes; ++c) {
    const double gap = std::max({b.low[c] - a.high[c], a.low[c] - b.high[c], 0.0});
    sum += gap * gap;
  }
  return sum;
}

/// `axes` that decide whether agents are within `reach`; `bytes` that the GPU gets of each.
Predicted of_parts(const Problem& problem, std::span<const Places> steps, Divide divided,
                   std::size_t axes, double reach, std::uint64_t bytes) {
  Predicted sum{.rebuilds = static_cast<std::uint32_t>(steps.size())};
  std::uint64_t made = 0;
  std::uint64_t lanes = 0;
  for (const Places& places : steps) {
    const BoxParts parts = divided(problem, places);
    for (const BoxPart& mine : parts) {
      std::uint64_t tests = 0;
      for (const BoxPart& other : parts)
        tests += squared_gap(mine, other, axes) <= reach * reach ? other.agents.size() : 0;
      const std::uint64_t agents = mine.agents.size();
      const std::uint64_t active = (agents + warp_lanes - 1) / warp_lanes * warp_lanes;
      made += agents * tests;
      lanes += active * tests;
      sum.idle += {.all = box_room - agents, .active = active - agents};
    }
    sum.structure_bytes += parts.size() * bytes;
  }
  sum.tests = static_cast<double>(made) / static_cast<double>(steps.size());
  sum.used = static_cast<double>(made) / static_cast<double>(lanes);
  return sum;
}

double reach_of(const Problem& problem) {
  return safe_reach(problem.extent(), std::sqrt(static_cast<double>(problem.radius_squared)));
}
constexpr std::uint64_t slab_bytes = 16;  // range of its agents and of those to test
constexpr std::uint64_t box_bytes = 32;   // range of its agents, and its corners

}  // namespace

Predicted predict_slabs(const Problem& problem, std::span<const Places> steps,
                        const Choice& /*choice*/) {
  return of_parts(problem, steps, sorted_along_x, 1, reach_of(problem), slab_bytes);
}

Predicted predict_split_slabs(const Problem& problem, std::span<const Places> steps,
                              const Choice& /*choice*/) {
  return of_parts(problem, steps, divided_along_x, 1, reach_of(problem), slab_bytes);
}

Predicted predict_boxes(const Problem& problem, std::span<const Places> steps,
                        const Choice& /*choice*/) {
  return of_parts(problem, steps, divided_near_borders, 3, reach_of(problem), box_bytes);
}

Predicted predict_early_stop(const Problem& problem, std::span<const Places> steps,
                             const Choice& /*choice*/) {
  return of_parts(problem, steps, divided_near_borders, 3, 0, box_bytes);
}

}  // namespace strata::neighbours
