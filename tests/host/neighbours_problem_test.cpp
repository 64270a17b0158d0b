// Agents as they are generated, and as they are refused.
#include "message_of.hpp"
#include "nbody/neighbours/model/cells.hpp"
#include "nbody/neighbours/problem/problem.hpp"
#include "nbody/neighbours/problem/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace strata::neighbours {
namespace {

using testing::HasSubstr;

Problem problem_of(Kind kind, Spread spread, std::uint32_t agents = 4000) {
  return {.kind = kind,
          .spread = spread,
          .agents = agents,
          .world = usual_world(kind, agents, spread),
          .radius_squared = usual_radius_squared(kind)};
}

class Generated : public testing::TestWithParam<std::tuple<Kind, Spread>> {
 protected:
  Problem problem_ = problem_of(std::get<0>(GetParam()), std::get<1>(GetParam()));
  Agents agents_ = generate(problem_);
};

TEST_P(Generated, AgentsAreInTheirWorldAndOnTheLattice) {
  EXPECT_NO_THROW(check("test", problem_, agents_));
  const auto steps = static_cast<double>(lattice(problem_.kind));
  for (std::size_t c = 0; c < 3; ++c) {
    for (const float at : agents_.parts[c])
      EXPECT_EQ(std::fmod(static_cast<double>(at) * steps, 1.0), 0.0);
  }
}

// Whatever is within reach has a squared distance that single precision holds, in any order of
// sums and fused or not.
TEST_P(Generated, SquaredDistancesWithinReachAreExact) {
  const Places places = places_of(agents_);
  const Lists lists = search(places, static_cast<double>(problem_.radius_squared), false).lists;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    for (const std::uint32_t j : lists.of(i)) {
      const auto along = [&](std::size_t c) { return agents_.parts[c][j] - agents_.parts[c][i]; };
      const float plain = along(0) * along(0) + (along(1) * along(1) + along(2) * along(2));
      const float fused =
          std::fma(along(0), along(0), std::fma(along(1), along(1), along(2) * along(2)));
      ASSERT_EQ(static_cast<double>(plain), squared_distance(places, i, j));
      ASSERT_EQ(plain, fused);
    }
  }
}

TEST_P(Generated, TheSameSeedGivesTheSameAgents) {
  EXPECT_EQ(generate(problem_), agents_);
  Problem other = problem_;
  other.seed = 7;
  EXPECT_NE(generate(other), agents_);
}

TEST_P(Generated, NoBoidHasATieAtThe7thPlace) {
  if (!only_nearest(problem_.kind)) return;
  const auto found = search(places_of(agents_), static_cast<double>(problem_.radius_squared), true);
  EXPECT_TRUE(found.tied.empty());
}

TEST_P(Generated, BoidsHeadSomewhereAndOthersNowhere) {
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    double squared = 0;
    for (const Part p : {Part::fx, Part::fy, Part::fz}) {
      const auto along = static_cast<double>(agents_.part(p)[i]);
      squared += along * along;
    }
    const bool boid = problem_.kind == Kind::boids;
    EXPECT_NEAR(squared, boid ? 1 : 0, 1e-6);
    EXPECT_FLOAT_EQ(agents_.part(Part::speed)[i], boid ? 2.7F : 0.0F);
  }
}

// Half of them have 10,000 times as many others about them.
TEST_P(Generated, ClustersAreAsDenseAsTheyAreSaidToBe) {
  constexpr double close = 0.25;  // squared: well inside of a cluster
  const Lists lists = search(places_of(agents_), close, false).lists;
  const auto pairs = static_cast<double>(lists.ids.size());
  const double world = static_cast<double>(problem_.world);
  const double volume =
      problem_.kind == Kind::boids ? 4.18879 * world * world * world : world * world * world;
  const double density = problem_.agents / volume;
  const double uniform = problem_.agents * density * 4.18879 * 0.125;
  if (problem_.spread == Spread::jittered) {
    EXPECT_EQ(pairs, 0);  // nearly a reach apart
  } else if (problem_.spread == Spread::uniform) {
    EXPECT_NEAR(pairs, uniform, 0.2 * uniform + 10);
  } else {
    EXPECT_GT(pairs, 50 * uniform);
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Kind, Spread>>& problem) {
  return std::string{to_string(std::get<0>(problem.param))} + '_' +
         std::string{to_string(std::get<1>(problem.param))};
}
INSTANTIATE_TEST_SUITE_P(Problems, Generated,
                         testing::Combine(testing::Values(Kind::boids, Kind::circles, Kind::list),
                                          testing::Values(Spread::uniform, Spread::clustered)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(OnAGrid, Generated,
                         testing::Combine(testing::Values(Kind::circles, Kind::list),
                                          testing::Values(Spread::jittered)),
                         name_of);

// The box of NVIDIA's sample `particles`: 128 cells along each edge, half of them with one agent.
TEST(JitteredGrid, FillsHalfOfItsWorldWithOneAgentACell) {
  const Problem problem = problem_of(Kind::circles, Spread::jittered, 1U << 20U);
  EXPECT_EQ(problem.world, 257);
  const Agents agents = generate(problem);
  EXPECT_NO_THROW(check("test", problem, agents));
  const Cells cells = cells_of(problem.low(), problem.extent(), 2, 0);
  EXPECT_EQ(cells.count, 128U);
  EXPECT_EQ(cells.reach, 1U);
  std::vector<int> in_cell(cells.all());
  for (std::size_t i = 0; i < agents.size(); ++i)
    ++in_cell[cells.of({agents.parts[0][i], agents.parts[1][i], agents.parts[2][i]})];
  EXPECT_EQ(*std::ranges::max_element(in_cell), 1);
  const auto filled = static_cast<double>(agents.size()) / static_cast<double>(in_cell.size());
  EXPECT_NEAR(filled, 0.5, 0.01);
}

TEST(JitteredGrid, HasItsPointsAReachApartAndItsAgentsNearThem) {
  const Problem problem = problem_of(Kind::list, Spread::jittered, 4096);
  const Agents agents = generate(problem);
  constexpr std::size_t side = 16;
  constexpr double most_off = 5.0 / 512;  // in steps of the lattice, of which a spacing has 1024
  std::array<double, 2> range{1, -1};
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const std::array point{i % side, i / side % side, i / side / side};
    for (std::size_t c = 0; c < 3; ++c) {
      const double off =
          static_cast<double>(agents.parts[c][i]) - 2.0 * static_cast<double>(point[c]) - 1;
      range = {std::min(range[0], off), std::max(range[1], off)};
    }
  }
  EXPECT_EQ(range[0], -most_off);
  EXPECT_EQ(range[1], most_off);
  // Of two agents side by side, 11 places each, 5 of 11 times one is off towards the other.
  const Lists lists = search(places_of(agents), 4, false).lists;
  const double wanted = 6.0 * side * side * (side - 1) * 5 / 11;
  EXPECT_NEAR(static_cast<double>(lists.ids.size()), wanted, 0.05 * wanted);
}

// --- refusals ---

std::string refusal(const Problem& problem, const Agents* agents = nullptr) {
  const std::string message = message_of(
      [&] { agents == nullptr ? check("there", problem) : check("there", problem, *agents); });
  if (message == "accepted") return "";
  EXPECT_THAT(message, HasSubstr("there: "));
  EXPECT_THAT(message, HasSubstr("; expected "));
  return message;
}

TEST(Agents, AreRefusedInOneLine) {
  const Problem right = problem_of(Kind::boids, Spread::uniform, 10);
  EXPECT_EQ(refusal(right), "");
  const auto with = [&](auto change) {
    Problem problem = right;
    change(problem);
    return refusal(problem);
  };
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(with([](Problem& p) { p.agents = 0; }), HasSubstr("0 agents"));
  EXPECT_THAT(with([](Problem& p) { p.agents = most_agents + 1; }), HasSubstr("agents"));
  EXPECT_THAT(with([](Problem& p) { p.radius_squared = 0; }), HasSubstr("reach is 0"));
  EXPECT_THAT(with([](Problem& p) { p.radius_squared = -1; }), HasSubstr("reach is -1"));
  EXPECT_THAT(with([](Problem& p) { p.radius_squared = nan; }), HasSubstr("reach is nan"));
  EXPECT_THAT(with([](Problem& p) { p.world = 4; }), HasSubstr("at most that of the world, 4"));
  EXPECT_THAT(with([](Problem& p) { p.world = nan; }), HasSubstr("world is nan"));
  EXPECT_THAT(with([](Problem& p) { p.world = 0; }), HasSubstr("world is 0"));
  EXPECT_THAT(with([](Problem& p) { p.world = 1e9F; }), HasSubstr("world is 1000000000"));
  EXPECT_THAT(with([](Problem& p) { p.radius_squared = 400; }), HasSubstr("distances are exact"));
}

TEST(Agents, AreRefusedOnAGridThatTheyCannotHave) {
  EXPECT_THAT(refusal(problem_of(Kind::boids, Spread::jittered)),
              HasSubstr("boids on a jittered grid"));
  Problem small = problem_of(Kind::circles, Spread::jittered, 1001);
  EXPECT_EQ(refusal(small), "");
  small.world = 22;  // 11 points along each edge
  EXPECT_EQ(refusal(small), "");
  EXPECT_NO_THROW(check("test", small, generate(small)));
  small.world = 21.9F;
  EXPECT_THAT(refusal(small), HasSubstr("at least 22, the edge of the jittered grid"));
}

TEST(Agents, AreRefusedOutsideOfTheirWorldAndWhereTheyAreNoNumbers) {
  const Problem boids = problem_of(Kind::boids, Spread::uniform, 3);
  Agents agents = generate(boids);
  EXPECT_EQ(refusal(boids, &agents), "");
  agents.part(Part::fy)[1] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(refusal(boids, &agents), HasSubstr("fy of agent 1 is inf"));
  agents = generate(boids);
  for (std::size_t c = 0; c < 3; ++c)
    agents.parts[c][2] = 30;  // each within the radius, the whole outside of the sphere
  EXPECT_THAT(refusal(boids, &agents), HasSubstr("agent 2 is at (30, 30, 30), outside"));
  const Problem circles = problem_of(Kind::circles, Spread::uniform, 3);
  agents = generate(circles);
  agents.part(Part::pz)[0] = -0.5F;
  EXPECT_THAT(refusal(circles, &agents), HasSubstr("agent 0"));
  EXPECT_THAT(refusal(problem_of(Kind::circles, Spread::uniform, 4), &agents),
              HasSubstr("3 agents; expected 4"));
}

TEST(Agents, AreRefusedWhereTheyAreTooDenseToHaveNoTies) {
  Problem dense = problem_of(Kind::boids, Spread::uniform, 200);
  dense.world = 0.02F;
  dense.radius_squared = 0.0004F;
  EXPECT_THROW((void)generate(dense), UsageError);
}

// --- cells ---

TEST(Cells, ReachAsFarAsTheSeedSays) {
  const double radius = std::sqrt(18.0);
  const auto reach = [&](float world, std::uint32_t cells) {
    return cells_of(-world, 2 * world, radius, cells).reach;
  };
  // Its figure 6.2: one cell up to 23³, and two from 24³ on in a world of 50, 48³ in one of 100.
  EXPECT_EQ(reach(50, 6), 1U);
  EXPECT_EQ(reach(50, 23), 1U);
  EXPECT_EQ(reach(50, 24), 2U);
  EXPECT_EQ(reach(100, 47), 1U);
  EXPECT_EQ(reach(100, 48), 2U);
  EXPECT_EQ(reach(50, 48), 3U);
  EXPECT_EQ(cells_of(-50, 100, radius, 0).count, 23U);
  EXPECT_EQ(cells_of(-100, 200, radius, 0).count, 47U);
  // Cells just as long as the reach: those beside the next may begin within it.
  EXPECT_EQ(cells_of(0, 100, 2, 50).reach, 2U);
  EXPECT_EQ(cells_of(0, 100, 2, 0).count, 49U);
  EXPECT_EQ(cells_of(0, 4, 2, 0).count, 1U);
}

TEST(Cells, HoldWhateverIsOutsideAtTheirBorder) {
  const Cells cells = cells_of(0, 10, 2, 5);
  EXPECT_EQ(cells.of(-3), 0U);
  EXPECT_EQ(cells.of(0), 0U);
  EXPECT_EQ(cells.of(1.99F), 0U);
  EXPECT_EQ(cells.of(2), 1U);
  EXPECT_EQ(cells.of(10), 4U);
  EXPECT_EQ(cells.of(1e6F), 4U);
  EXPECT_EQ(squared_distance_to_cell(cells, 1e6F, 4), 0.0F);
  EXPECT_EQ(squared_distance_to_cell(cells, 1, 2), 9.0F);
  EXPECT_EQ(squared_distance_to_cell(cells, 9, 2), 9.0F);
  EXPECT_EQ(squared_distance_to_cell(cells, 5, 2), 0.0F);
}

}  // namespace
}  // namespace strata::neighbours
