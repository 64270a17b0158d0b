// The reference against all pairs, and its motion against steps taken by hand.
#include "nbody/neighbours/model/tests.hpp"
#include "nbody/neighbours/problem/search.hpp"
#include "nbody/neighbours/reference/motion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace strata::neighbours {
namespace {

/// All pairs, and the nearest by sorting all.
Lists by_all_pairs(const Places& places, double radius_squared, bool nearest) {
  Lists lists;
  for (std::size_t i = 0; i < places.front().size(); ++i) {
    std::vector<std::pair<double, std::uint32_t>> near;
    for (std::uint32_t j = 0; j < places.front().size(); ++j) {
      const double squared = squared_distance(places, i, j);
      if (j != i && squared < radius_squared) near.emplace_back(squared, j);
    }
    std::ranges::sort(near);
    if (nearest && near.size() > nearest_count) near.resize(nearest_count);
    std::vector<std::uint32_t> ids;
    for (const auto& [squared, id] : near)
      ids.push_back(id);
    std::ranges::sort(ids);
    lists.ids.insert(lists.ids.end(), ids.begin(), ids.end());
    lists.first.push_back(lists.ids.size());
  }
  return lists;
}

TEST(NeighboursReference, IsWhatAllPairsAre) {
  for (const Kind kind : {Kind::boids, Kind::circles}) {
    for (const Spread spread : {Spread::uniform, Spread::clustered}) {
      for (const std::uint32_t agents : {1U, 2U, 77U, 1500U}) {
        Problem problem{.kind = kind, .spread = spread, .agents = agents};
        problem.radius_squared = usual_radius_squared(kind);
        problem.world = kind == Kind::boids ? 15 : usual_world(kind, agents);
        const Places places = places_of(generate(problem));
        for (const bool nearest : {false, true}) {
          for (const double reach : {18.0, 4.0, 0.3}) {
            EXPECT_EQ(search(places, reach, nearest).lists, by_all_pairs(places, reach, nearest))
                << to_string(kind) << ", " << to_string(spread) << ", " << agents;
          }
        }
      }
    }
  }
}

/// Agents on the x axis.
Places on_a_line(std::vector<double> x) {
  const std::size_t count = x.size();
  return {std::move(x), std::vector<double>(count), std::vector<double>(count)};
}

TEST(NeighboursReference, CountsNobodyAtTheReachItself) {
  const Places places = on_a_line({0, 2, 3.5, -1e6, 1e6});
  EXPECT_TRUE(search(places, 2.25, false).lists.ids.empty());
  EXPECT_EQ(search(places, 2.2500001, false).lists.ids, (std::vector<std::uint32_t>{2, 1}));
}

TEST(NeighboursReference, TellsTies) {
  // Of agent 0 the 7th and the 8th are as far; of the others they are not.
  const Places tied = on_a_line({0, 1, 2, 3, 4, 5, 6, 7, -7});
  EXPECT_EQ(search(tied, 100, true).tied, (std::vector<std::uint32_t>{0}));
  const Places none = on_a_line({0, 1, 2, 3, 4, 5, 6, 7, -7.5});
  EXPECT_TRUE(search(none, 100, true).tied.empty());
}

/// Agents with wrong neighbours where those of agent 0 are `ids`.
std::size_t wrong(const Places& places, double reach, bool nearest,
                  const std::vector<std::uint32_t>& ids, double slack) {
  const Lists right = search(places, reach, nearest).lists;
  return agents_with_wrong_neighbours(
      places, reach, nearest, right,
      [&](std::size_t i) { return i == 0 ? std::span{ids} : right.of(i); }, slack);
}

TEST(NeighboursReference, AllowsWithSlackOnlyPairsAtALimit) {
  const Places places = on_a_line({0, 1, 2 - 1e-9, 2 + 1e-9, 3});
  EXPECT_EQ(wrong(places, 4, false, {2, 1}, 0), 0U);
  EXPECT_EQ(wrong(places, 4, false, {1}, 0), 1U);
  EXPECT_EQ(wrong(places, 4, false, {1}, 1e-6), 0U);
  EXPECT_EQ(wrong(places, 4, false, {1, 2, 3}, 1e-6), 0U);
  EXPECT_EQ(wrong(places, 4, false, {2}, 1e-6), 1U) << "agent 1 is well within";
  EXPECT_EQ(wrong(places, 4, false, {1, 2, 4}, 1e-6), 1U) << "agent 4 is well outside";
  EXPECT_EQ(wrong(places, 4, false, {1, 2, 2}, 1e-6), 1U) << "twice";
  EXPECT_EQ(wrong(places, 4, false, {0, 1, 2}, 1e-6), 1U) << "itself";
  EXPECT_EQ(wrong(places, 4, false, {1, 2, 99}, 1e-6), 1U) << "an agent that does not exist";
}

TEST(NeighboursReference, AllowsWithSlackAnotherOfTwoAsFarAtThe7thPlace) {
  const Places places = on_a_line({0, 1, 2, 3, 4, 5, 6, 7, -7 - 1e-9});
  const std::vector<std::uint32_t> other{1, 2, 3, 4, 5, 6, 8};
  EXPECT_EQ(wrong(places, 100, true, other, 1e-6), 0U);
  EXPECT_EQ(wrong(places, 100, true, other, 0), 1U);
  EXPECT_EQ(wrong(places, 100, true, {1, 2, 3, 4, 5, 7, 8}, 1e-6), 1U);
}

// --- motion ---

Problem boids() {
  return {.kind = Kind::boids, .agents = 2, .world = 50, .radius_squared = 18};
}
Lists of_each_other() {
  Lists lists;
  lists.first = {0, 1, 2};
  lists.ids = {1, 0};
  return lists;
}

TEST(NeighboursMotion, ABoidAloneFliesStraight) {
  Lists none;
  none.first = {0, 0};
  const auto after =
      motion_of(boids(), {{.place = {1, 2, 3}, .forward = {0, 0, 1}, .speed = 3}}, none).after;
  EXPECT_DOUBLE_EQ(after[0].place.x, 1);
  EXPECT_DOUBLE_EQ(after[0].place.z, 3 + 3.0 / 60);
  EXPECT_DOUBLE_EQ(after[0].speed, 3);
}

TEST(NeighboursMotion, WhoLeavesTheSphereComesInOnTheOtherSide) {
  Lists none;
  none.first = {0, 0};
  const auto after =
      motion_of(boids(), {{.place = {0, 0, 49.99}, .forward = {0, 0, 1}, .speed = 3}}, none).after;
  EXPECT_NEAR(after[0].place.z, 49.99 + 0.05 - 100, 1e-12);
  EXPECT_DOUBLE_EQ(after[0].forward.z, 1);
}

// Ahead of a boid along z, 3 away, flies one along x: away from it by 12, with it by 8 (1, 0, -1) /
// √2, towards it by 8. Together (5.657, 0, -12 + 8 - 5.657), of 60ths of a second.
TEST(NeighboursMotion, ABoidSteersByTheSeedsWeights) {
  const std::vector<Agent<double>> pair{{.place = {0, 0, 0}, .forward = {0, 0, 1}, .speed = 6},
                                        {.place = {0, 0, 3}, .forward = {1, 0, 0}, .speed = 6}};
  const auto after = motion_of(boids(), pair, of_each_other()).after;
  const double part = 8 / std::numbers::sqrt2;
  const double vx = part / 60;
  const double vz = 6 + (-12 + 8 - part) / 60;
  EXPECT_NEAR(after[0].place.x, vx / 60, 1e-12);
  EXPECT_NEAR(after[0].place.z, vz / 60, 1e-12);
  EXPECT_NEAR(after[0].speed, std::hypot(vx, vz), 1e-12);
  EXPECT_NEAR(after[0].forward.x, vx / std::hypot(vx, vz), 1e-12);
  // The other has the first one at a right angle behind z: cosine 0, so it is felt apart and
  // together, but not aligned with.
  EXPECT_NEAR(after[1].place.z, 3 + (12 - 8) / 3600.0, 1e-12);
  EXPECT_NEAR(after[1].place.x, 6 / 60.0, 1e-12);
}

TEST(NeighboursMotion, NoForceIsAbove27AndNoSpeedAbove9) {
  const std::vector<Agent<double>> pair{{.place = {0, 0, 0}, .forward = {0, 0, 1}, .speed = 9},
                                        {.place = {0, 0, -1}, .forward = {0, 0, 1}, .speed = 9}};
  const auto after = motion_of(boids(), pair, of_each_other()).after;
  EXPECT_DOUBLE_EQ(after[0].speed, 9);
}

TEST(NeighboursMotion, DecisionsAtALimitAreSaid) {
  // At a right angle nothing is near a limit; at an angle of cosine 0.7 the alignment is.
  const auto undecided = [](double cosine) {
    const double sine = std::sqrt(1 - cosine * cosine);
    const std::vector<Agent<double>> pair{
        {.place = {0, 0, 0}, .forward = {0, 0, 1}, .speed = 6},
        {.place = {3 * sine, 0, 3 * cosine}, .forward = {0, 1, 0}, .speed = 6}};
    return motion_of(boids(), pair, of_each_other()).undecided[0] != 0;
  };
  EXPECT_FALSE(undecided(0.1));
  EXPECT_TRUE(undecided(0.7));
  EXPECT_TRUE(undecided(-0.15 + 1e-6));
  EXPECT_TRUE(undecided(-0.707));
  EXPECT_FALSE(undecided(0.71));
}

// A quarter of the reach apart, a sine of a quarter turn pushes by 0.05; three quarters, it pulls.
TEST(NeighboursMotion, CirclesPushBelowHalfTheReachAndPullAbove) {
  const Problem circles{.kind = Kind::circles, .agents = 2, .world = 10, .radius_squared = 4};
  const auto moved_x = [&](double x) {
    return motion_of(circles, {{.place = {5, 5, 5}}, {.place = {x, 5, 5}}}, of_each_other())
        .after[0]
        .place.x;
  };
  EXPECT_NEAR(moved_x(5.5), 5 - 0.05, 1e-12);
  EXPECT_NEAR(moved_x(6.5), 5 + 0.05, 1e-12);
  EXPECT_NEAR(moved_x(6), 5, 1e-12);
  EXPECT_DOUBLE_EQ(moved_x(5), 5) << "one at the same place";
}

TEST(NeighboursMotion, CirclesStayBetweenTheirWalls) {
  const Problem circles{.kind = Kind::circles, .agents = 2, .world = 4, .radius_squared = 4};
  const auto after =
      motion_of(circles, {{.place = {0.01, 2, 2}}, {.place = {0.51, 2, 2}}}, of_each_other()).after;
  EXPECT_DOUBLE_EQ(after[0].place.x, 0);
  EXPECT_NEAR(after[1].place.x, 0.56, 1e-12);
}

TEST(NeighboursMotion, ThePolynomialIsThePullOfASine) {
  constexpr double bound = 2e-6;  // of 2π at a distance of 0
  for (int i = 0; i <= 2000; ++i) {
    const float squared = static_cast<float>(i) / 2000;
    EXPECT_NEAR(static_cast<double>(circles::pull(squared)),
                circles::pull(static_cast<double>(squared)), bound);
  }
  EXPECT_NEAR(circles::pull(0.25), 0, 1e-15) << "it begins to pull at half the reach";
  EXPECT_NEAR(circles::pull(1e-12), circles::pull(0.0), 1e-9);
}

// --- predicted distance tests, by hand ---

TEST(PredictedTests, AreOfAllPairsAgentsSquared) {
  const Problem problem{.kind = Kind::list, .agents = 5, .world = 8, .radius_squared = 4};
  EXPECT_EQ(predict_all_pairs(problem, {}, {}).tests, 25);
}

// Four cells of edge 2 along x. Agents at 0.5 and 1.5 share one, the one at 3 is in the next, and
// the one at 7.5 alone; all in one row, at a height of 1.
TEST(PredictedTests, AreOfCellsWithinReach) {
  const Problem problem{.kind = Kind::list, .agents = 4, .world = 8, .radius_squared = 4};
  const Places places{std::vector<double>{0.5, 1.5, 3, 7.5}, std::vector<double>(4, 1.0),
                      std::vector<double>(4, 1.0)};
  const std::vector<Places> steps{places, places};
  const Choice four{.cells = 4};
  // Each of the first three reaches all three: 9. Nobody but itself is in reach of the last.
  EXPECT_EQ(predict_cells(problem, steps, four).tests, 10);
  EXPECT_EQ(predict_cells(problem, steps, four).rebuilds, 2U);
  // A row reaches two cells on, where the last one has no agent before it but at 3, in cell 1.
  EXPECT_EQ(predict_rows(problem, steps, four).tests, 3 + 3 + 4 + 2);
  // Columns are (x, y): all agents are at one height.
  EXPECT_EQ(predict_columns(problem, steps, four).tests, 10);
}

TEST(PredictedTests, OfListsAreMadeAnewWhenAnAgentHasMovedByHalfTheSkin) {
  const Problem problem{.kind = Kind::circles, .agents = 2, .world = 8, .radius_squared = 4};
  const auto at = [](double x) {
    return Places{std::vector<double>{1, x}, std::vector<double>(2, 1.0),
                  std::vector<double>(2, 1.0)};
  };
  const std::vector<Places> steps{at(3.2), at(3.3), at(3.44), at(3.5)};
  // The reach is 2.5: one cell of 8 / 3 on. Rebuilt at 3.2 and, 0.26 on, never: 0.3 > 0.25 at 3.5.
  const Predicted predicted = predict_lists(problem, steps, {.cells = 1, .skin = 0.5});
  EXPECT_EQ(predicted.rebuilds, 2U);
  // Two builds of 4 tests; 2.2 apart they are listed in both, then 2.5 apart no more.
  EXPECT_EQ(predicted.tests, (4.0 + 2 + 2 + 2 + 4 + 0) / 4);
  // Two of the threads of a warp, which do the same.
  EXPECT_EQ(predicted.used, 2.0 / 32);
}

}  // namespace
}  // namespace strata::neighbours
