#include "micro/transfer/peer_copy.hpp"

#include "harness/case/benchmark.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

namespace strata {
namespace {

using namespace peer_copy;

bool excluded(const char* by, const char* direction, long long bytes) {
  return declare()
      .excludes({{"by", by}, {"direction", direction}, {"bytes", std::to_string(bytes)}},
                Backend::cuda)
      .has_value();
}

TEST(PeerCopyDeclaration, LeavesOutWhatHasNoMeaning) {
  EXPECT_FALSE(excluded("copy_engine", "both", 4));
  EXPECT_FALSE(excluded("kernel", "write", 1 << 30));
  EXPECT_FALSE(excluded("load", "read", 4));
  EXPECT_TRUE(excluded("load", "write", 4));
  EXPECT_TRUE(excluded("load", "read", 64));
  EXPECT_TRUE(excluded("kernel", "read", 6));
}

TEST(PeerCopyDeclaration, HasSizesFromAWordToAGibibyte) {
  const auto sizes = declare().axis("bytes")->defaults;
  EXPECT_EQ(sizes.front(), "4");
  EXPECT_EQ(sizes.back(), std::to_string(most_bytes));
  EXPECT_EQ(sizes.size(), 8U);
  EXPECT_NE(find_benchmark("peer_copy"), nullptr);
}

TEST(PeerCopySample, IsLongOrOfThreeCopies) {
  EXPECT_EQ(copies_per_sample({.bytes = 1U << 30U}), 3U);
  EXPECT_FALSE(is_brief({.bytes = 1U << 30U}));
  for (const Copy& one : {Copy{.bytes = 4}, Copy{.bytes = 1U << 22U}}) {
    const double seconds = copies_per_sample(one) * least_seconds(one);
    EXPECT_TRUE(is_brief(one));
    EXPECT_GT(seconds, 2.5e-4);
    EXPECT_LE(seconds, 5e-4);
  }
}

TEST(PeerCopyBytes, AreThoseOfBothDirections) {
  EXPECT_EQ((Copy{.read = true, .write = false, .bytes = 8}).bytes_moved(), 8U);
  EXPECT_EQ((Copy{.read = true, .write = true, .bytes = 8}).bytes_moved(), 16U);
}

TEST(PeerCopyWords, TellTheSendersApart) {
  std::set<std::uint32_t> words;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    words.insert(sent_word(false, i));
    words.insert(sent_word(true, i));
  }
  EXPECT_EQ(words.size(), 2000U);
}

TEST(PeerCopyChain, LeadsThroughEverySlotAndBack) {
  const Chain chain;
  std::set<std::uint32_t> seen;
  std::uint32_t at = chain.first();
  for (std::uint32_t load = 0; load < slots; ++load) {
    ASSERT_EQ(at, chain.after(load));
    ASSERT_EQ(at % pitch, 0U);
    seen.insert(at);
    at = chain.words().at(at / sizeof(std::uint32_t));
  }
  EXPECT_EQ(at, chain.first());
  EXPECT_EQ(seen.size(), slots);
  EXPECT_EQ(chain.words().size(), std::size_t{slots} * pitch / sizeof(std::uint32_t));
}

TEST(PeerCopyChain, IsLongerThanAnyLaunchFollowsIt) {
  EXPECT_LT(long_loads, slots);
  EXPECT_EQ(short_loads % load_unroll, 0U);
  EXPECT_EQ(long_loads % load_unroll, 0U);
}

}  // namespace
}  // namespace strata
