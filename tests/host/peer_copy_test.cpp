#include "micro/transfer/peer_copy.cu"

#include "harness/case/benchmark.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::peer_copy {
namespace {

TEST(PeerCopyLoads, StartWithoutAWordOfTheChainAndEndWhereItLeads) {
  const Chain chain;
  const Experiment experiment = describe_loads();
  for (const Slope& slope : experiment.slopes) {
    EXPECT_EQ(slope.start, Start::evicted);
    Tally tally;
    const Stamp right{.result = chain.after(640)};
    slope.verify({.length = slope.lengths.full}, {&right, 1}, tally);
    EXPECT_EQ(tally.different, 0U);
    slope.verify({.length = slope.lengths.brief}, {&right, 1}, tally);
    EXPECT_EQ(tally.different, 1U);
    EXPECT_EQ(tally.checked, 2U);
  }
}

TEST(PeerCopyWords, TellTheSendersApart) {
  std::set<std::uint32_t> words;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    words.insert(sent_by(false).word(i));
    words.insert(sent_by(true).word(i));
  }
  EXPECT_EQ(words.size(), 2000U);
}

TEST(PeerCopyChain, LeadsThroughEverySlotAndBack) {
  const Chain chain;
  std::set<std::uint32_t> seen;
  std::uint32_t at = chain.after(0);
  for (std::uint32_t load = 0; load < slots; ++load) {
    ASSERT_EQ(at, chain.after(load));
    ASSERT_EQ(at % pitch, 0U);
    seen.insert(at);
    at = chain.words.at(at / sizeof(std::uint32_t));
  }
  EXPECT_EQ(at, chain.after(0));
  EXPECT_EQ(seen.size(), slots);
  EXPECT_EQ(chain.words.size(), std::size_t{slots} * pitch / sizeof(std::uint32_t));
}

TEST(PeerCopyChain, IsLongerThanAnyLaunchFollowsIt) {
  EXPECT_LT(long_loads, slots);
  EXPECT_EQ(long_loads / 5 % load_unroll, 0U);
  EXPECT_EQ(long_loads % load_unroll, 0U);
}

}  // namespace
}  // namespace strata::peer_copy
