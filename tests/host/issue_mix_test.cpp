#include "micro/compute/issue_mix.cu"

#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::issue_mix {
namespace {

constexpr std::uint64_t some_rounds = 7;

TEST(IssueMixGroups, HaveOnePartnerEachAndItsAnswerGoesIntoBothChains) {
  for (const auto& [name, size] : group_sizes.all) {
    std::multiset<int> taken;
    unsigned partners = 0;
    for (unsigned p = 0; p < body; ++p) {
      if (asks_behind(p, size)) ++partners;
      if (const int group = answer_at(p, size); group >= 0) {
        taken.insert(group);
        EXPECT_EQ((p + body - static_cast<unsigned>(group) * size) % body / chains, needed / chains)
            << size;
      }
    }
    EXPECT_EQ(partners, body / size);
    for (unsigned group = 0; group < body / size; ++group)
      EXPECT_EQ(taken.count(static_cast<int>(group)), chains) << size;
    EXPECT_EQ(body % (chains * size), 0U);
    EXPECT_EQ(body / size % slots, 0U);
  }
}

TEST(IssueMixGroups, KeepNoMoreAnswersUnderWayThanThereAreSlots) {
  for (const auto& [name, size] : group_sizes.all)
    EXPECT_LT(needed / size + 1, slots);
}

class EachPartner : public ::testing::TestWithParam<Partner> {};
INSTANTIATE_TEST_SUITE_P(Issue, EachPartner,
                         ::testing::Values(Partner::none, Partner::rsqrt, Partner::shuffle,
                                           Partner::shared_load, Partner::integer_add));

TEST_P(EachPartner, LeavesChainsThatDifferByLaneAndStayFinite) {
  for (const auto& [name, size] : group_sizes.all) {
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
  // Every word that shared_load finds is the addend of the case without it.
  const bool same = GetParam() == Partner::none || GetParam() == Partner::shared_load;
  EXPECT_EQ(with == without, same);
}

TEST_P(EachPartner, StaysNearWhereItWasForAsLongAsAnyLaunch) {
  for (const bool has_partners : {true, false}) {
    for (const auto& chain : expected_ends(GetParam(), 4, has_partners, 100'001)) {
      for (const float x : chain)
        EXPECT_LT(std::abs(x), 64);
    }
  }
}

TEST(IssueMixChains, OfLoadsStayOnAddressesOfTheRing) {
  for (const auto& [name, size] : group_sizes.all) {
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

// --- rows, gates and counts from what launches showed

}  // namespace
}  // namespace strata::issue_mix
