#include "harness/model/word_patterns.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace strata {
namespace {

TEST(HashedWords, AreNeverTheSameTwiceInARow) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < 4096; ++i)
    EXPECT_TRUE(seen.insert(hashed_word(i)).second) << i;
  EXPECT_FALSE(seen.contains(0));
}

TEST(HashedWords, ChangeHalfTheirBitsWithTheIndex) {
  int changed = 0;
  for (std::uint32_t i = 0; i < 1000; ++i)
    changed += std::popcount(hashed_word(i) ^ hashed_word(i + 1));
  EXPECT_NEAR(changed / 1000.0, 16, 1);
}

TEST(HashedElements, OfAByteAndOfTwoAreThePartsOfAWord) {
  const std::uint32_t word = hashed_word(5);
  std::uint32_t from_bytes = 0;
  std::uint32_t from_halves = 0;
  for (std::uint32_t i = 0; i < 4; ++i)
    from_bytes |= hashed_element(20 + i, 1) << (8 * i);
  for (std::uint32_t i = 0; i < 2; ++i)
    from_halves |= hashed_element(10 + i, 2) << (16 * i);
  EXPECT_EQ(from_bytes, word);
  EXPECT_EQ(from_halves, word);
}

TEST(HashedElements, OfSeveralWordsAreTheirSum) {
  EXPECT_EQ(hashed_element(7, 4), hashed_word(7));
  EXPECT_EQ(hashed_element(7, 8), hashed_word(14) + hashed_word(15));
  EXPECT_EQ(hashed_element(7, 16),
            hashed_word(28) + hashed_word(29) + hashed_word(30) + hashed_word(31));
}

TEST(HashedWords, SupportAStepAnOffsetAndAMask) {
  EXPECT_EQ(HashedWords{}.word(7), hashed_word(7));
  EXPECT_EQ((HashedWords{.step = 2, .first = 1}.word(7)), hashed_word(15));
  EXPECT_EQ(HashedWords{.mask = 0xFF}.word(7), hashed_word(7) & 0xFFU);
}

}  // namespace
}  // namespace strata
