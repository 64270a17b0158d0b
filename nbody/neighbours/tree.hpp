// A tree of boxes over agents along a Z curve: eight agents are a leaf, and eight adjacent nodes
// have one parent. The positions of a node's children are implicit: the root is node 0, the
// children of node v are 8v + 1 to 8v + 8, and the leaves are the last nodes. Also compiled for the
// CPU, where tests run it.
#pragma once

#include "nbody/neighbours/search_step.hpp"
#include "nbody/neighbours/z_curve.hpp"

#include <cmath>
#include <cstdint>

namespace strata::neighbours {

/// Agents of a leaf, which are tested as a group, and children of a node.
inline constexpr std::uint32_t branches = group_size;

/// The position on a Z curve, to ten bits per axis. The value of a bit is a power of two, so that
/// rounding never decides between two positions of the lattice.
struct CurveOf {
  float low = 0;
  float per_length = 1;

  [[nodiscard]] STRATA_BOTH std::uint32_t of(const Vector<float>& place) const {
    return every_third(along(place.z)) << 2U | every_third(along(place.y)) << 1U |
           every_third(along(place.x));
  }

 private:
  [[nodiscard]] STRATA_BOTH std::uint32_t along(float coordinate) const {
    constexpr float most = 1023;
    const float at = (coordinate - low) * per_length;
    return at > 0 ? static_cast<std::uint32_t>(at < most ? at : most) : 0;
  }
};
inline constexpr int curve_bits = 30;
[[nodiscard]] inline CurveOf curve_of(float low, float extent) {
  return {low, 1024 / std::exp2(std::ceil(std::log2(extent)))};
}

/// Extent of a box; read in two pieces.
struct alignas(16) Bounds {
  Vector<float> low;
  float unused;
  Vector<float> high;
  float unused_as_well;

  [[nodiscard]] STRATA_BOTH static Bounds empty() {
    return {{INFINITY, INFINITY, INFINITY}, 0, {-INFINITY, -INFINITY, -INFINITY}, 0};
  }
  STRATA_BOTH void add(const Bounds& more) {
    low = {std::fmin(low.x, more.low.x), std::fmin(low.y, more.low.y),
           std::fmin(low.z, more.low.z)};
    high = {std::fmax(high.x, more.high.x), std::fmax(high.y, more.high.y),
            std::fmax(high.z, more.high.z)};
  }
  /// Squared distance to the nearest point of it; infinite for an empty box.
  [[nodiscard]] STRATA_BOTH float distance_to(const Vector<float>& place) const {
    const Vector<float> off{std::fmax(std::fmax(low.x - place.x, place.x - high.x), 0.0F),
                            std::fmax(std::fmax(low.y - place.y, place.y - high.y), 0.0F),
                            std::fmax(std::fmax(low.z - place.z, place.z - high.z), 0.0F)};
    return dot(off, off);
  }
};

/// Levels of a tree, and where each begins.
struct TreeShape {
  std::uint32_t agents = 1;
  std::uint32_t depth = 0;       ///< of the leaves; that of the root is 0
  std::uint32_t first_leaf = 0;  ///< the number of a node that does not exist

  /// Nodes from the root down to this depth.
  [[nodiscard]] static std::uint32_t above(std::uint32_t depth) {
    std::uint32_t nodes = 0;
    for (; depth > 0; --depth)
      nodes = nodes * branches + 1;
    return nodes;
  }
  /// Maximum agents below a node at this depth.
  [[nodiscard]] std::uint64_t of_node(std::uint32_t at_depth) const {
    std::uint64_t below = branches;
    for (; at_depth < depth; ++at_depth)
      below *= branches;
    return below;
  }
  /// Nodes at this depth that have agents; those one deeper than leaves are the agents.
  [[nodiscard]] std::uint32_t count(std::uint32_t at_depth) const {
    if (at_depth > depth) return agents;
    return static_cast<std::uint32_t>((agents + of_node(at_depth) - 1) / of_node(at_depth));
  }
  [[nodiscard]] std::uint32_t all() const { return above(depth + 1); }
};
[[nodiscard]] inline TreeShape tree_over(std::uint32_t agents) {
  TreeShape shape{.agents = agents};
  while (shape.of_node(0) < agents)
    ++shape.depth;
  shape.first_leaf = TreeShape::above(shape.depth);
  return shape;
}

/// The agents of a tree that are nearer than the limit, which may decrease as they are found: first
/// one's own leaf, then its siblings below the same parent, and so on up to the root.
struct SearchTree {
  const Bounds* nodes;
  const OrderedAgent* ordered;  ///< as many as all leaves hold; padding is far away
  std::uint32_t agents;
  std::uint32_t first_leaf;

  template <class Found>
  STRATA_BOTH std::uint32_t test_agents(std::uint32_t at, const Vector<float>& me,
                                        Found& found) const {
    std::uint32_t node = first_leaf + at / branches;
    std::uint32_t tests = test_leaf(node, me, found);
    for (; node > 0; node = (node - 1) / branches) {
      const std::uint32_t first = (node - 1) / branches * branches + 1;
      for (std::uint32_t beside = first; beside < first + branches; ++beside) {
        if (beside != node) tests += test_below(beside, me, found);
      }
    }
    return tests;
  }

 private:
  template <class Found>
  STRATA_BOTH std::uint32_t test_leaf(std::uint32_t leaf, const Vector<float>& me,
                                      Found& found) const {
    const std::uint32_t first = (leaf - first_leaf) * branches;
    test_group(me, ordered + first, found);
    return agents - first < branches ? agents - first : branches;
  }
  /// After the last child of a node comes the successor of the node.
  template <class Found>
  STRATA_BOTH std::uint32_t test_below(std::uint32_t top, const Vector<float>& me,
                                       Found& found) const {
    std::uint32_t tests = 0;
    for (std::uint32_t node = top;; ++node) {
      if (nodes[node].distance_to(me) < found.limit()) {
        if (node < first_leaf) {
          node = node * branches;  // the next one is its first child
          continue;
        }
        tests += test_leaf(node, me, found);
      }
      while (node != top && node % branches == 0)
        node = (node - 1) / branches;
      if (node == top) return tests;
    }
  }
};

/// The step of the agent at the thread's position.
template <Kind kind>
STRATA_BOTH inline void take_step_in_tree(const KernelStep& step, std::uint32_t thread,
                                          const SearchTree& tree) {
  if (thread >= step.agents) return;
  const OrderedAgent mine = tree.ordered[thread];
  take_step<kind>(step, thread, mine.id, mine.place,
                  [&](const KernelStep& /*now*/, const Vector<float>& me, auto& found) {
                    return tree.test_agents(thread, me, found);
                  });
}

}  // namespace strata::neighbours
