#include "micro/compute/issue_mix.hpp"

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

TEST(IssueMixPartners, AreKnownByName) {
  EXPECT_EQ(partners.of("shuffle"), Partner::shuffle);
  EXPECT_THROW((void)partners.of("divide"), std::invalid_argument);
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

TEST(IssueMixWords, FillARowOfAWarpEach) {
  for (const auto& [name, partner] : partners.all) {
    const auto words = device_words(partner);
    EXPECT_EQ(words.size(), rows * warp_lanes);
    // Behind the numbers there are whole ones, such as the lane that a shuffle takes from.
    EXPECT_EQ(std::ranges::count(words.begin(), words.begin() + (chains + 3) * warp_lanes, 0U), 0)
        << name;
  }
}

TEST(IssueMixDeclaration, IsKnownToEveryBuildAndCountsItsWork) {
  const auto* const found = find_benchmark("issue_mix");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->benchmark.counter_sets, ::testing::Contains("flops"));
  EXPECT_EQ(found->benchmark.axis("partner")->choices.size(), partners.all.size());
}

// --- rows, gates and counts from what launches showed

GpuFacts gpu() {
  GpuFacts facts;
  facts.sms = 10;
  return facts;
}

Seen seen_of(double cycles, double outside, double hertz) {
  return {.inside = {.cycles = cycles, .slowest = cycles, .hertz = hertz}, .outside = outside};
}
const Sample both{.slopes = {seen_of(12, 12.1, 1.4e9), seen_of(13.5, 13.6, 1.5e9)}, .numbers = {}};

TEST(IssueMixRows, TellAPartnerFromItsGroup) {
  const Experiment experiment = describe(Partner::rsqrt, 12, gpu(), {});
  EXPECT_EQ(
      rows_of(experiment, cuda_timers, both),
      (RowsSeen{{"group_cycles by clock64_slope", {13.5, "cycle"}},
                {"group_cycles by event_slope", {13.6, "cycle"}},
                {"multiply_add_cycles by clock64_slope", {1, "cycle"}},
                {"multiply_add_cycles by event_slope", {12.1 / 12, "cycle"}},
                {"partner_cycles by less_multiply_adds", {1.5, "cycle", Provenance::modelled}},
                {"core_clock by clock64_over_globaltimer", {1.5e9, "Hz"}}}));
}

TEST(IssueMixRows, OfMultiplyAddsAloneAreOfOneSlope) {
  const Experiment experiment = describe(Partner::none, 8, gpu(), {});
  ASSERT_EQ(experiment.slopes.size(), 1U);
  const auto seen =
      rows_of(experiment, cuda_timers, {.slopes = {seen_of(8, 8.1, 1e9)}, .numbers = {}});
  EXPECT_EQ(seen, (RowsSeen{{"group_cycles by clock64_slope", {8, "cycle"}},
                            {"group_cycles by event_slope", {8.1, "cycle"}},
                            {"multiply_add_cycles by clock64_slope", {1, "cycle"}},
                            {"multiply_add_cycles by event_slope", {8.1 / 8, "cycle"}},
                            {"core_clock by clock64_over_globaltimer", {1e9, "Hz"}}}));
}

TEST(IssueMixGates, CompareTheTimersOfTheGroups) {
  const Experiment experiment = describe(Partner::shuffle, 12, gpu(), {});
  EXPECT_EQ(verdict_of("timer", experiment, {both}), Verdict::passed);
  Sample apart = both;
  apart.slopes[1].outside = 13.9;
  EXPECT_EQ(verdict_of("timer", experiment, {apart}), Verdict::failed);
  for (const Slope& slope : experiment.slopes) {
    EXPECT_TRUE(slope.held);
    EXPECT_EQ(slope.window.name, "median SM");
    EXPECT_EQ(slope.writers, 320U);
  }
  EXPECT_FALSE(experiment.slopes[0].size) << "both slopes have the lengths of the groups'";
  EXPECT_EQ(experiment.placement->cores, 10U);
  EXPECT_EQ(experiment.placement->per_core, 32);
}

TEST(IssueMixGates, VerifyTheEndsOfBothSlopes) {
  std::vector<std::uint64_t> ends(chains * warp_lanes);
  const Experiment experiment = describe(Partner::integer_add, 12, gpu(), ends);
  const auto differ_after = [&](std::size_t slope, bool has_partners) {
    const Ends wanted = expected_ends(Partner::integer_add, 12, has_partners, some_rounds);
    for (std::size_t i = 0; i < ends.size(); ++i)
      ends[i] = operations::bits(wanted[i / warp_lanes][i % operations::distinct_lanes]);
    Tally tally;
    experiment.slopes[slope].verify({.length = {.rounds = some_rounds}}, {}, tally);
    EXPECT_EQ(tally.checked, ends.size());
    return tally.different;
  };
  EXPECT_EQ(differ_after(0, false), 0U);
  EXPECT_EQ(differ_after(1, true), 0U);
  EXPECT_GT(differ_after(0, true), 0U);
  EXPECT_GT(differ_after(1, false), 0U);
}

TEST(IssueMixLengths, AreOfGroupsOfAScheduler) {
  const Experiment experiment = describe(Partner::rsqrt, 24, gpu(), {});
  const Lengths lengths = experiment.slopes[1].size([](const Length& length) {
    return Launched{.length = length, .seconds = 1e-5 + 1e-6 * length.rounds};
  });
  EXPECT_NEAR(lengths.full.rounds, 2000, 1);
  EXPECT_EQ(lengths.full.work, lengths.full.rounds * 16.0 * 8);
}

TEST(IssueMixCounts, AreTheMultiplyAddsAndThePartners) {
  const CountPlan plan = describe(Partner::rsqrt, 12, gpu(), {}).counts.value();
  const double groups = 16.0 * 32 * 32 * 10;
  ASSERT_EQ(plan.expected.size(), 2U);
  EXPECT_EQ(plan.expected[0].quantity, "fp32_fma");
  EXPECT_EQ(plan.expected[0].predicted, groups * 12 * 32);
  EXPECT_EQ(plan.expected[1].quantity, "xu_instructions");
  EXPECT_EQ(plan.expected[1].predicted, groups);
  EXPECT_EQ(plan.units, groups);
  EXPECT_EQ(plan.model + " " + plan.unit, "chain_length group");
  EXPECT_EQ(plan.slope, 1U);
  EXPECT_EQ(plan.length.rounds, 17U);
  EXPECT_EQ(plan.none.rounds, 1U);
  const CountPlan loads = describe(Partner::shared_load, 12, gpu(), {}).counts.value();
  EXPECT_EQ(loads.expected.at(1).quantity, "shared_load_requests");
  EXPECT_EQ(loads.expected.at(1).predicted, groups);
  EXPECT_EQ(describe(Partner::none, 12, gpu(), {}).counts->slope, 0U);
}

}  // namespace
}  // namespace strata::issue_mix
