#include "harness/model/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace strata {
namespace {

TEST(LaneElements, AreTheStrideApartFromTheMisalignmentOn) {
  const auto elements = lane_elements(3, 5, Permutation::identity);
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    EXPECT_EQ(elements[lane], 3 * lane + 5);
}

TEST(LaneElements, RunBackwardsWhenReversed) {
  const auto elements = lane_elements(2, 0, Permutation::reversed);
  EXPECT_EQ(elements.front(), 62U);
  EXPECT_EQ(elements.back(), 0U);
}

TEST(LaneElements, AreTheSameSetInEveryOrder) {
  for (const std::uint32_t stride : {1U, 2U, 7U, 128U}) {
    const auto straight = lane_elements(stride, 31, Permutation::identity);
    for (const auto order : {Permutation::reversed, Permutation::random}) {
      auto elements = lane_elements(stride, 31, order);
      std::ranges::sort(elements);
      EXPECT_EQ(elements, straight);
    }
  }
}

TEST(LaneElements, MixTheLanesWhenRandomAndAlwaysAlike) {
  const auto one = lane_elements(1, 0, Permutation::random);
  EXPECT_EQ(one, lane_elements(1, 0, Permutation::random));
  EXPECT_NE(one, lane_elements(1, 0, Permutation::identity));
  EXPECT_NE(one, lane_elements(1, 0, Permutation::reversed));
}

TEST(LaneAccess, ReadsEachElementAtItsPlace) {
  const auto access = access_of(8, lane_elements(2, 1, Permutation::reversed));
  EXPECT_EQ(access.width, 8U);
  EXPECT_EQ(access.addresses.front(), 8U * 63);
  EXPECT_EQ(access.addresses.back(), 8U);
}

TEST(Permutations, HaveNames) {
  EXPECT_EQ(permutations.of("identity"), Permutation::identity);
  EXPECT_EQ(permutations.of("reversed"), Permutation::reversed);
  EXPECT_EQ(permutations.of("random"), Permutation::random);
  EXPECT_EQ(permutations.names().size(), 3U);
  EXPECT_THROW((void)permutations.of("sorted"), std::invalid_argument);
}

}  // namespace
}  // namespace strata
