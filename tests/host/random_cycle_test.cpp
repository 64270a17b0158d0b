#include "micro/pattern/random_cycle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace strata {
namespace {

TEST(RandomOrder, VisitsEverySlotOnceBeforeItReturns) {
  for (const std::uint32_t slots : {1U, 2U, 3U, 64U, 4096U}) {
    const auto next = successors(random_order(slots, 7));
    std::uint32_t at = 0;
    std::uint32_t steps = 0;
    do {
      at = next[at];
      ++steps;
    } while (at != 0 && steps <= slots);
    EXPECT_EQ(steps, slots);
  }
}

TEST(RandomOrder, IsTheSameForTheSameSeedAndAnotherForAnother) {
  EXPECT_EQ(random_order(1000, 5), random_order(1000, 5));
  EXPECT_NE(random_order(1000, 5), random_order(1000, 6));
}

TEST(RandomOrder, ShowsNoStrideThatAPrefetcherCouldFollow) {
  const auto order = random_order(1U << 16U, 3);
  std::uint32_t ascending = 0;
  for (std::size_t p = 1; p < order.size(); ++p)
    ascending += order[p] == order[p - 1] + 1 ? 1 : 0;
  EXPECT_LT(ascending, 10U);  // one is expected of a random permutation
}

TEST(SplitMix, GivesTheNumbersOfItsPublication) {
  SplitMix random{1234567};  // reference values of the public-domain C code by Vigna
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
}

TEST(SplitMix, StaysBelowItsBoundAndReachesAllOfIt) {
  SplitMix random{1};
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 2000; ++i)
    seen.insert(random.below(7));
  EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 6U);
  EXPECT_EQ(seen.size(), 7U);
}

}  // namespace
}  // namespace strata
