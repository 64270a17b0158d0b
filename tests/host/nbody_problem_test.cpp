#include "nbody/gravity/problem/problem.hpp"
#include "tests/host/fakes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

namespace strata::nbody {
namespace {

constexpr Problem several{.kind = Kind::galaxies, .systems = 3, .bodies = 35};

TEST(NbodyProblem, IsTheSameFromTheSameSeed) {
  EXPECT_EQ(generate(several), generate(several));
  Problem other = several;
  ++other.seed;
  EXPECT_NE(generate(several), generate(other));
}

TEST(NbodyProblem, BeginsAlikeOnEveryMachine) {
  // Written down once: results of two machines are compared body by body.
  const Bodies bodies = generate({.bodies = 1});
  EXPECT_EQ(bodies.at(Field::px, 0), 0x1.36726p-4F);
  EXPECT_EQ(bodies.at(Field::vx, 0), -0x1.7ec2p-5F);
  EXPECT_EQ(bodies.at(Field::mass, 0), 0x1.1e5698p+0F);
  const Bodies longer = generate({.bodies = 10});
  for (std::size_t f = 0; f < field_count; ++f)
    EXPECT_EQ(bodies.fields[f][0], longer.fields[f][0]);
}

bool all_within(const Bodies& bodies, std::initializer_list<Field> fields, float least,
                float most) {
  return std::ranges::all_of(fields, [&](Field f) {
    return std::ranges::all_of(bodies.fields[static_cast<std::size_t>(f)],
                               [&](float x) { return x >= least && x < most; });
  });
}

TEST(NbodyProblem, HasItsBodiesInTheCubeAndItsMassesWhereItSays) {
  for (const Kind kind : {Kind::galaxies, Kind::single, Kind::gravit}) {
    const Bodies bodies = generate({.kind = kind, .systems = 1, .bodies = 500});
    EXPECT_TRUE(all_within(bodies, {Field::px, Field::py, Field::pz}, 0, 1));
    EXPECT_TRUE(all_within(bodies, {Field::vx, Field::vy, Field::vz}, -0.5F, 0.5F));
    EXPECT_TRUE(all_within(bodies, {Field::mass}, 0.5F, 1.5F));
  }
}

TEST(NbodyProblem, HasOneMassInGalaxiesAndManyElsewhere) {
  const auto masses = [](Kind kind) {
    const Bodies bodies = generate({.kind = kind, .systems = 1, .bodies = 500});
    const auto& all = bodies.fields[static_cast<std::size_t>(Field::mass)];
    return std::set<float>(all.begin(), all.end());
  };
  EXPECT_EQ(masses(Kind::galaxies), std::set<float>{1.0F});
  EXPECT_GT(masses(Kind::single).size(), 400U);
  EXPECT_GT(masses(Kind::gravit).size(), 400U);
}

TEST(NbodyProblem, GivesEverySystemOtherBodies) {
  const Bodies bodies = generate(several);
  ASSERT_EQ(bodies.total(), 105U);
  for (std::size_t i = 0; i < 35; ++i) {
    EXPECT_NE(bodies.at(Field::px, i), bodies.at(Field::px, 35 + i));
    EXPECT_NE(bodies.at(Field::px, 35 + i), bodies.at(Field::px, 70 + i));
  }
}

TEST(NbodyProblem, CountsASquareOfInteractionsForEachSystem) {
  EXPECT_EQ(several.total(), 105U);
  EXPECT_EQ(several.interactions(), 3.0 * 35 * 35);
  const Problem report{.kind = Kind::galaxies, .systems = 32, .bodies = 4096};
  EXPECT_NEAR(report.interactions() * galaxies_steps, 4.3e9, 1e7);
}

template <class>
struct AsTypes;
template <class... Ls>
struct AsTypes<std::tuple<Ls...>> {
  using type = testing::Types<Ls...>;
};
template <class L>
class NbodyLayout : public testing::Test {};
TYPED_TEST_SUITE(NbodyLayout, AsTypes<Layouts>::type);

TYPED_TEST(NbodyLayout, KeepsEveryNumber) {
  for (const std::uint32_t n : {1U, 31U, 33U}) {
    const Bodies bodies = generate({.kind = Kind::single, .systems = 2, .bodies = n});
    const auto words = words_of(TypeParam::name, bodies);
    EXPECT_EQ(words.size(), TypeParam::words(bodies.total()));
    EXPECT_EQ(bodies_of(TypeParam::name, words, 2, n), bodies);
  }
}

TYPED_TEST(NbodyLayout, PutsOnesWhereNoFieldIs) {
  const Bodies zero = empty_bodies(1, 5);
  const auto words = words_of(TypeParam::name, zero);
  const auto ones = static_cast<std::size_t>(std::ranges::count(words, 1.0F));
  EXPECT_EQ(ones, words.size() - 5 * field_count);
}

class NbodyProblemOfACase : public testing::Test {
 protected:
  Problem of(const std::string& kind, const std::string& systems, const std::string& bodies) {
    record_.which.params = {{"problem", kind}, {"systems", systems}, {"bodies", bodies}};
    const Session session{plan_, device_, cache_, record_, counting_};
    return problem_of(session);
  }

 private:
  Plan plan_;
  FakeDevice device_;
  Cache cache_;
  CaseRecord record_;
  Counting counting_;
};

TEST_F(NbodyProblemOfACase, IsWhatItsAxesSay) {
  EXPECT_EQ(of("galaxies", "32", "4096"),
            (Problem{.kind = Kind::galaxies, .systems = 32, .bodies = 4096}));
  EXPECT_EQ(of("gravit", "1", "40000"),
            (Problem{.kind = Kind::gravit, .systems = 1, .bodies = 40000}));
  EXPECT_THROW((void)of("planets", "1", "9"), std::out_of_range);
}

}  // namespace
}  // namespace strata::nbody
