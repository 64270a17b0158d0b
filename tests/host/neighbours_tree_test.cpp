// A tree over agents: its shape, and what the threads of a GPU find in it, thread by thread on a
// CPU.
#include "nbody/neighbours/tree.hpp"
#include "tests/host/neighbours_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace strata::neighbours {
namespace {

/// The vectors of a tree, on this side.
struct Grown {
  TreeShape shape;
  std::vector<OrderedAgent> ordered;
  std::vector<Bounds> nodes;

  Grown(const Problem& problem, const KernelStep& step) : shape{tree_over(step.agents)} {
    const CurveOf curve = curve_of(problem.low(), problem.extent());
    for (std::uint32_t i = 0; i < step.agents; ++i)
      ordered.push_back({.place = step.place(i), .id = i});
    std::ranges::stable_sort(ordered, {},
                             [&](const OrderedAgent& one) { return curve.of(one.place); });
    nodes.assign(shape.all(), Bounds::empty());
    for (std::uint32_t at = 0; at < step.agents; ++at) {
      const Vector<float> place = ordered[at].place;
      nodes[shape.first_leaf + at / branches].add({place, 0, place, 0});
    }
    for (std::uint32_t node = shape.all() - 1; node > 0; --node)
      nodes[(node - 1) / branches].add(nodes[node]);
    ordered.resize(std::size_t{shape.count(shape.depth)} * branches,
                   {.place = {INFINITY, 0, 0}, .id = no_agent});
  }

  void take(Kind kind, const KernelStep& step) const {
    const SearchTree tree{nodes.data(), ordered.data(), step.agents, shape.first_leaf};
    for (std::uint32_t thread = 0; thread < step.agents + 3; ++thread) {
      if (kind == Kind::boids) take_step_in_tree<Kind::boids>(step, thread, tree);
      if (kind == Kind::circles) take_step_in_tree<Kind::circles>(step, thread, tree);
      if (kind == Kind::list) take_step_in_tree<Kind::list>(step, thread, tree);
    }
  }
};

TEST(TreeOfAgents, FindsWhatDoublePrecisionFinds) {
  std::vector<Set> sets = all_sets();
  for (const Kind kind : {Kind::boids, Kind::circles, Kind::list}) {
    sets.push_back(generated(kind, 513, Spread::uniform));
    sets.push_back(generated(kind, 2049, Spread::clustered));
  }
  for (const Set& set : sets) {
    SCOPED_TRACE(set.name);
    (void)expect_right(set, {}, predict_tree, few_steps, [&](const KernelStep& step) {
      Grown{set.problem, step}.take(set.problem.kind, step);
    });
  }
}

TEST(TreeOfAgents, HasEightAgentsALeafAndEightNodesANode) {
  EXPECT_EQ(tree_over(1).depth, 0U);
  EXPECT_EQ(tree_over(8).depth, 0U);
  EXPECT_EQ(tree_over(8).first_leaf, 0U);
  const TreeShape nine = tree_over(9);
  EXPECT_EQ(nine.depth, 1U);
  EXPECT_EQ(nine.first_leaf, 1U);
  EXPECT_EQ(nine.all(), 9U);
  EXPECT_EQ(nine.count(0), 1U);
  EXPECT_EQ(nine.count(1), 2U) << "leaves";
  EXPECT_EQ(nine.count(2), 9U) << "agents";
  EXPECT_EQ(tree_over(64).depth, 1U);
  const TreeShape many = tree_over(1U << 20U);
  EXPECT_EQ(many.depth, 6U);
  EXPECT_EQ(many.first_leaf, 1U + 8 + 64 + 512 + 4096 + 32768);
  EXPECT_EQ(many.count(6), 1U << 17U);
  EXPECT_EQ(many.count(1), 4U);
}

TEST(TreeOfAgents, StandAlongTheCurveWhereverTheirWorldBegins) {
  const CurveOf curve = curve_of(-50, 100);  // 128 / 1024 a bit
  EXPECT_EQ(curve.of({-50, -50, -50}), 0U);
  EXPECT_EQ(curve.of({-50 + 0.125F, -50, -50}), 1U);
  EXPECT_EQ(curve.of({-50, -50 + 0.125F, -50}), 2U);
  EXPECT_EQ(curve.of({-50, -50, -50 + 0.25F}), 32U);
  EXPECT_EQ(curve.of({1e9F, 1e9F, 1e9F}), (1U << curve_bits) - 1);
  EXPECT_EQ(curve.of({-60, -60, -60}), 0U);
  std::set<std::uint32_t> codes;
  for (std::uint32_t bits = 0; bits < 1024; ++bits)
    codes.insert(every_third(bits));
  EXPECT_EQ(codes.size(), 1024U);
  EXPECT_EQ(*codes.rbegin(), 0x09249249U);
}

// In a cluster a cell has all its agents, and of a tree only those that may be among the nearest 7.
TEST(TreeOfAgents, AsksFewOfAClusterForTheNearest) {
  const Problem problem = problem_of(Kind::boids, 4096, Spread::clustered);
  const std::vector<Places> places{places_of(generate(problem))};
  const double in_tree = predict_tree(problem, places, {}).tests;
  EXPECT_LT(5 * in_tree, predict_rows(problem, places, {}).tests);
  EXPECT_LT(in_tree, 4096.0 * 300);
}

}  // namespace
}  // namespace strata::neighbours
