#include "nbody/gravity/ladder.hpp"
#include "nbody/gravity/reference/gravity.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace strata::nbody {
namespace {

Bodies two(float apart, float first_mass, float second_mass) {
  Bodies bodies = empty_bodies(1, 2);
  bodies.at(Field::px, 1) = apart;
  bodies.at(Field::mass, 0) = first_mass;
  bodies.at(Field::mass, 1) = second_mass;
  return bodies;
}

struct Numbers {
  std::vector<float> x, y, z;
};
Numbers rounded(const std::vector<Pull>& pulls) {
  Numbers numbers;
  for (const Pull& pull : pulls) {
    numbers.x.push_back(static_cast<float>(pull.acceleration[0]));
    numbers.y.push_back(static_cast<float>(pull.acceleration[1]));
    numbers.z.push_back(static_cast<float>(pull.acceleration[2]));
  }
  return numbers;
}

TEST(NbodyReference, IsTheClosedFormOfTwoBodies) {
  const auto pulls = reference_pulls(two(0.5F, 3, 5));
  const double squared = 0.25 + static_cast<double>(softening_squared);
  const double distance = std::sqrt(squared);
  EXPECT_NEAR(pulls[0].acceleration[0], 5 * 0.5 / (squared * distance), 1e-13);
  EXPECT_NEAR(pulls[1].acceleration[0], -3 * 0.5 / (squared * distance), 1e-13);
  EXPECT_EQ(pulls[0].acceleration[1], 0);
  EXPECT_EQ(pulls[1].acceleration[2], 0);
  EXPECT_NEAR(pulls[0].potential, -5 / distance, 1e-13);
  EXPECT_NEAR(pulls[1].potential, -3 / distance, 1e-13);
}

TEST(NbodyReference, IsZeroForASingleBodyAndForTwoAtOnePosition) {
  constexpr std::array<double, 3> nothing{};
  const auto alone = reference_pulls(generate({.bodies = 1}));
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].acceleration, nothing);
  EXPECT_EQ(alone[0].potential, 0);
  const auto together = reference_pulls(two(0, 1, 1e6F));
  EXPECT_EQ(together[0].acceleration, nothing);
  EXPECT_EQ(together[1].acceleration, nothing);
  EXPECT_TRUE(std::isfinite(together[0].potential));
}

TEST(NbodyReference, KeepsTheMomentumOfEachSystem) {
  const Bodies bodies = [] {
    Bodies some = generate({.kind = Kind::single, .bodies = 150});
    some.at(Field::mass, 77) = 1e6F;
    return some;
  }();
  const auto pulls = reference_pulls(bodies);
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0;
    double scale = 0;
    for (std::size_t i = 0; i < bodies.total(); ++i) {
      const double force =
          static_cast<double>(bodies.at(Field::mass, i)) * pulls[i].acceleration[c];
      sum += force;
      scale += std::abs(force);
    }
    EXPECT_LE(std::abs(sum), 1e-13 * scale);
  }
}

TEST(NbodyReference, LetsNoSystemPullAnother) {
  const Bodies both = generate({.kind = Kind::galaxies, .systems = 2, .bodies = 40});
  Bodies second = empty_bodies(1, 40);
  for (std::size_t f = 0; f < field_count; ++f)
    second.fields[f].assign(both.fields[f].begin() + 40, both.fields[f].end());
  const auto together = reference_pulls(both);
  const auto alone = reference_pulls(second);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(together[40 + i].acceleration, alone[i].acceleration);
    EXPECT_EQ(together[40 + i].potential, alone[i].potential);
  }
}

TEST(NbodyReference, IsTheSameOnAllCpusAsOneByOne) {
  const Bodies bodies = generate({.bodies = 200});
  const auto pulls = reference_pulls(bodies);
  for (const std::size_t i : {0U, 63U, 64U, 199U})
    EXPECT_EQ(pulls[i].acceleration, reference_pull(bodies, i).acceleration);
}

TEST(NbodyError, OfTheReferenceItselfIsARounding) {
  const auto pulls = reference_pulls(generate({.bodies = 100}));
  const Numbers numbers = rounded(pulls);
  const Error error = error_of(pulls, numbers.x, numbers.y, numbers.z);
  EXPECT_TRUE(error.finite);
  EXPECT_GT(error.relative_rms, 0);
  EXPECT_LT(error.relative_rms, 0x1p-24);
  EXPECT_GE(error.relative_maximum, error.relative_rms);
}

TEST(NbodyError, IsTheDifferenceOverTheRootMeanSquare) {
  const std::vector<Pull> right{{.acceleration = {3, 0, 0}}, {.acceleration = {0, 4, 0}}};
  const std::vector<float> x{3, 0};
  const std::vector<float> y{0, 4.5F};
  const std::vector<float> z{0, 0};
  const Error error = error_of(right, x, y, z);
  EXPECT_DOUBLE_EQ(error.relative_rms, 0.5 / 5);
  EXPECT_DOUBLE_EQ(error.relative_maximum, 0.5 / std::sqrt(25.0 / 2));
}

TEST(NbodyError, FindsWhatIsNoNumber) {
  const auto pulls = reference_pulls(generate({.bodies = 20}));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Numbers numbers = rounded(pulls);
    numbers.z[19] = bad;
    const Error error = error_of(pulls, numbers.x, numbers.y, numbers.z);
    EXPECT_FALSE(error.finite);
    EXPECT_EQ(accuracy_gate(accuracy_of(rung_named("serial"), 20, error, "z")).verdict,
              Verdict::failed);
  }
}

TEST(NbodyError, IsAbsoluteWhereNothingAccelerates) {
  const auto pulls = reference_pulls(two(0, 1, 1));
  const std::vector<float> zero{0, 0};
  const std::vector<float> off{0, 0.25F};
  EXPECT_EQ(error_of(pulls, zero, zero, zero).relative_rms, 0);
  EXPECT_DOUBLE_EQ(error_of(pulls, off, zero, zero).relative_rms, 0.25);
}

TEST(NbodyBound, GrowsWithTheBodiesAndLessWhereSumsAreInBlocks) {
  for (const Rung& rung : ladder("nbody")) {
    for (std::uint32_t n = 1; n < 1U << 20U; n *= 4)
      EXPECT_LT(rms_bound(rung, n), rms_bound(rung, 4 * n)) << rung.name;
  }
  Rung running;
  Rung blocks{.sum = Sum::blocks};
  EXPECT_GT(rms_bound(running, 1U << 19U), 5 * rms_bound(blocks, 1U << 19U));
  const Rung halves{.sum = Sum::halves};
  EXPECT_DOUBLE_EQ(rms_bound(halves, 4096), rms_bound(blocks, 4096) + 0x1p-19);
  Rung fast{.approximate = true};
  EXPECT_DOUBLE_EQ(rms_bound(fast, 1000), 2 * rms_bound(running, 1000));
}

TEST(NbodyConserved, AddsUpEnergyAndMomentumOfAll) {
  Bodies bodies = two(0.5F, 2, 4);
  bodies.at(Field::vx, 0) = 3;
  bodies.at(Field::vy, 1) = -1;
  const auto pulls = reference_pulls(bodies);
  const Conserved sum = conserved(bodies, pulls);
  const double distance = std::sqrt(0.25 + static_cast<double>(softening_squared));
  EXPECT_DOUBLE_EQ(sum.momentum[0], 6);
  EXPECT_DOUBLE_EQ(sum.momentum[1], -4);
  EXPECT_DOUBLE_EQ(sum.momentum_scale, 6 + 4);
  EXPECT_NEAR(sum.energy, 0.5 * 2 * 9 + 0.5 * 4 * 1 - 2 * 4 / distance, 1e-12);
}

}  // namespace
}  // namespace strata::nbody
