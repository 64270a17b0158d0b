#include "micro/compute/issue_mix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>

namespace strata {
namespace {

using namespace issue_mix;

constexpr std::uint64_t some_rounds = 7;

TEST(IssueMixGroups, HaveOnePartnerEachAndItsAnswerGoesIntoBothChains) {
  for (const unsigned size : group_sizes) {
    std::multiset<int> taken;
    unsigned asked = 0;
    for (unsigned p = 0; p < body; ++p) {
      if (asks_behind(p, size)) ++asked;
      if (const int group = answer_at(p, size); group >= 0) {
        taken.insert(group);
        EXPECT_EQ((p + body - static_cast<unsigned>(group) * size) % body / chains, needed / chains)
            << size;
      }
    }
    EXPECT_EQ(asked, body / size);
    for (unsigned group = 0; group < body / size; ++group)
      EXPECT_EQ(taken.count(static_cast<int>(group)), chains) << size;
    EXPECT_EQ(body % (chains * size), 0U);
    EXPECT_EQ(body / size % slots, 0U);
  }
}

TEST(IssueMixGroups, KeepNoMoreAnswersUnderWayThanThereAreSlots) {
  for (const unsigned size : group_sizes)
    EXPECT_LT(needed / size + 1, slots);
}

TEST(IssueMixPartners, AreKnownByName) {
  for (std::size_t i = 0; i < partners.size(); ++i)
    EXPECT_EQ(partner_of(partners.at(i)), static_cast<Partner>(i));
  EXPECT_THROW((void)partner_of("divide"), std::out_of_range);
}

class EachPartner : public ::testing::TestWithParam<Partner> {};
INSTANTIATE_TEST_SUITE_P(Issue, EachPartner,
                         ::testing::Values(Partner::none, Partner::rsqrt, Partner::shuffle,
                                           Partner::shared_load, Partner::integer_add));

TEST_P(EachPartner, LeavesChainsThatDifferByLaneAndStayFinite) {
  for (const unsigned size : group_sizes) {
    const Ends ends = expected_ends(GetParam(), size, true, some_rounds);
    for (const auto& chain : ends) {
      EXPECT_GT(std::set(chain.begin(), chain.end()).size(), chain.size() / 2);
      for (const float x : chain) {
        ASSERT_TRUE(std::isfinite(x)) << size;
        ASSERT_NE(x, 0);
        ASSERT_LT(std::abs(x), 64);
      }
    }
  }
}

TEST_P(EachPartner, ShowsInWhatTheChainsComeTo) {
  const Ends with = expected_ends(GetParam(), 12, true, some_rounds);
  const Ends without = expected_ends(GetParam(), 12, false, some_rounds);
  // Every word that shared_load finds is the addend that stands there without it.
  const bool same = GetParam() == Partner::none || GetParam() == Partner::shared_load;
  EXPECT_EQ(with == without, same);
}

TEST_P(EachPartner, StaysNearWhereItWasForAsLongAsAnyLaunch) {
  for (const bool asked : {true, false}) {
    for (const auto& chain : expected_ends(GetParam(), 4, asked, 100'001)) {
      for (const float x : chain)
        EXPECT_LT(std::abs(x), 64);
    }
  }
}

TEST(IssueMixChains, OfLoadsStayOnAddressesOfTheRing) {
  for (const unsigned size : group_sizes) {
    for (const auto& chain : expected_ends(Partner::shared_load, size, true, some_rounds)) {
      for (const float x : chain) {
        const auto at = std::bit_cast<std::uint32_t>(x);
        EXPECT_GE(at, ring_address);
        EXPECT_LT(at, ring_address + ring_words * sizeof(float));
        EXPECT_EQ(at % sizeof(float), 0U);
      }
    }
  }
}

TEST(IssueMixWords, FillARowOfAWarpEach) {
  for (std::size_t i = 0; i < partners.size(); ++i) {
    const auto words = device_words(static_cast<Partner>(i));
    EXPECT_EQ(words.size(), rows * warp_lanes);
    // Behind the numbers there are whole ones, such as the lane that a shuffle takes from.
    EXPECT_EQ(std::ranges::count(words.begin(), words.begin() + (chains + 3) * warp_lanes, 0.0F), 0)
        << partners.at(i);
  }
}

TEST(IssueMixDeclaration, IsKnownToEveryBuildAndCountsItsWork) {
  const auto* const found = find_benchmark("issue_mix");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->benchmark.counter_sets, ::testing::Contains("flops"));
  EXPECT_EQ(found->benchmark.axis("partner")->choices.size(), partners.size());
}

}  // namespace
}  // namespace strata
