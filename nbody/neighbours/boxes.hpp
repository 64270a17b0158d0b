// Cells that adapt to the agents, instead of a fixed grid: the dynamic grid of Breitbart 2008, ch.
// 7. Each has at most 128 agents, and a GPU block of its own.
//
// Host only, except for what a kernel reads and calls.
#pragma once

#include "nbody/neighbours/model/cells.hpp"
#include "nbody/neighbours/search_step.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::neighbours {

/// Maximum agents of a box, and threads of its block.
inline constexpr std::uint32_t box_size = 128;

/// A slice of the world, and the agents within reach of it, which are contiguous.
struct alignas(16) Slab {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

/// A part of the world, and its agents.
struct alignas(16) Box {
  Vector<float> low;
  std::uint32_t first = 0;
  Vector<float> high;
  std::uint32_t count = 0;
};

/// Positions of the agents, and the reach.
struct World {
  float low;
  float high;
  double reach;

  [[nodiscard]] Box box() const { return {.low = {low, low, low}, .high = {high, high, high}}; }
};
[[nodiscard]] inline World world_of(const Problem& problem) {
  return {problem.low(), problem.low() + problem.extent(),
          safe_reach(problem.extent(), std::sqrt(problem.radius_squared))};
}

/// Whether two boxes are no farther apart than the limit, squared. With a limit of 0: whether they
/// touch.
[[nodiscard]] STRATA_BOTH inline bool are_near(const Box& a, const Box& b, float limit) {
  const auto gap = [](float low, float high, float other_low, float other_high) {
    return std::fmax(std::fmax(other_low - high, low - other_high), 0.0F);
  };
  const Vector<float> off{gap(a.low.x, a.high.x, b.low.x, b.high.x),
                          gap(a.low.y, a.high.y, b.low.y, b.high.y),
                          gap(a.low.z, a.high.z, b.low.z, b.high.z)};
  return dot(off, off) <= limit;
}

namespace detail {

inline float& along(Vector<float>& v, unsigned axis) {
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}
inline double along(const Vector<float>& v, unsigned axis) {
  return static_cast<double>(axis == 0 ? v.x : axis == 1 ? v.y : v.z);
}
inline std::array<double, 3> centre_of(std::span<const OrderedAgent> agents) {
  std::array<double, 3> sum{};
  for (const OrderedAgent& one : agents) {
    for (unsigned axis = 0; axis < 3; ++axis)
      sum[axis] += along(one.place, axis);
  }
  for (double& one : sum)
    one /= static_cast<double>(agents.size());
  return sum;
}

/// Divides the agents of `space` at their centre until no part has more than a box can hold, and
/// calls visit(part) with each. If all are at the centre, which would not terminate, half of them
/// are split off.
template <class Axis, class Visit>
// NOLINTNEXTLINE(misc-no-recursion): each part has fewer agents
void divide(std::span<OrderedAgent> agents, const Box& space, const Axis& axis_for,
            const Visit& visit) {
  if (agents.size() <= box_size) {
    Box part = space;
    part.count = static_cast<std::uint32_t>(agents.size());
    visit(part);
    return;
  }
  const std::array<double, 3> centre = centre_of(agents);
  const unsigned axis = axis_for(centre, space);
  const auto middle = std::partition(agents.begin(), agents.end(), [&](const OrderedAgent& one) {
    return along(one.place, axis) < centre[axis];
  });
  auto left = static_cast<std::size_t>(middle - agents.begin());
  if (left == 0 || left == agents.size()) left = agents.size() / 2;
  Box below = space;
  Box above = space;
  along(below.high, axis) = static_cast<float>(centre[axis]);
  along(above.low, axis) = static_cast<float>(centre[axis]);
  above.first += static_cast<std::uint32_t>(left);
  divide(agents.first(left), below, axis_for, visit);
  divide(agents.subspan(left), above, axis_for, visit);
}

/// Sorted along x, so that those within reach are contiguous.
inline std::vector<Slab> with_reach(const std::vector<Box>& boxes, double reach) {
  std::vector<Slab> slabs;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const Box& mine = boxes[b];
    std::size_t from = b;
    std::size_t last = b;
    while (from > 0 && along(mine.low, 0) - along(boxes[from - 1].high, 0) <= reach)
      --from;
    while (last + 1 < boxes.size() && along(boxes[last + 1].low, 0) - along(mine.high, 0) <= reach)
      ++last;
    slabs.push_back(
        {mine.first, mine.count, boxes[from].first, boxes[last].first + boxes[last].count});
  }
  return slabs;
}

}  // namespace detail

/// Sorts agents along x, and makes a slab of every 128 of them, as wide as their extent (7.2.1).
[[nodiscard]] inline std::vector<Slab> sorted_slabs(std::span<OrderedAgent> agents,
                                                    const World& world) {
  std::ranges::sort(agents, {}, [](const OrderedAgent& one) {
    return std::pair{one.place.x, one.id};
  });
  std::vector<Box> boxes;
  for (std::size_t first = 0; first < agents.size(); first += box_size) {
    const std::size_t count = std::min<std::size_t>(box_size, agents.size() - first);
    boxes.push_back({agents[first].place, static_cast<std::uint32_t>(first),
                     agents[first + count - 1].place, static_cast<std::uint32_t>(count)});
  }
  return detail::with_reach(boxes, world.reach);
}

/// Divides agents along x only (7.2.2).
[[nodiscard]] inline std::vector<Slab> divided_slabs(std::span<OrderedAgent> agents,
                                                     const World& world) {
  std::vector<Box> boxes;
  detail::divide(
      agents, world.box(), [](const std::array<double, 3>&, const Box&) { return 0U; },
      [&](const Box& part) { boxes.push_back(part); });
  return detail::with_reach(boxes, world.reach);
}

/// Divides agents along the axis on which their centre is nearest to a border (7.2.3).
[[nodiscard]] inline std::vector<Box> boxes_of(std::span<OrderedAgent> agents, const World& world) {
  std::vector<Box> boxes;
  detail::divide(
      agents, world.box(),
      [](const std::array<double, 3>& centre, const Box& space) {
        const auto to_border = [&](unsigned axis) {
          return std::min(centre[axis] - detail::along(space.low, axis),
                          detail::along(space.high, axis) - centre[axis]);
        };
        unsigned nearest = 0;
        for (unsigned axis = 1; axis < 3; ++axis) {
          if (to_border(axis) < to_border(nearest)) nearest = axis;
        }
        return nearest;
      },
      [&](const Box& part) { boxes.push_back(part); });
  return boxes;
}

}  // namespace strata::neighbours
