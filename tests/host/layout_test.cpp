#include "harness/model/layout.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace strata {
namespace {

/// Proof by exhaustion: every field of every particle has a word of its own inside words(n).
template <Layout L>
constexpr bool is_injective(std::size_t n) {
  std::vector<bool> taken(L::words(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t f = 0; f < field_count; ++f) {
      const auto w = word_of<L>(static_cast<Field>(f), i, n);
      if (w >= taken.size() || taken[w]) return false;
      taken[w] = true;
    }
  }
  return true;
}

/// Every read begins at a multiple of its own size: the hardware's condition for one access.
template <Layout L>
constexpr bool is_aligned(std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t r = 0; r < L::reads.size(); ++r) {
      const auto first = L::first_word(r, i, n);
      if (first % L::reads[r].words != 0 || first + L::reads[r].words > L::words(n)) return false;
    }
  }
  return true;
}

template <class>
struct AsTypes;
template <class... Ls>
struct AsTypes<std::tuple<Ls...>> {
  using type = testing::Types<Ls...>;
};
template <class L>
class EveryLayout : public testing::Test {};
TYPED_TEST_SUITE(EveryLayout, AsTypes<Layouts>::type);

TYPED_TEST(EveryLayout, MeetsTheContract) {
  static_assert(Layout<TypeParam>);
}

TYPED_TEST(EveryLayout, GivesEveryFieldOfEveryParticleItsOwnWord) {
  static_assert(is_injective<TypeParam>(33));
  for (const std::size_t n : {0U, 1U, 31U, 32U, 33U, 1000U}) {
    EXPECT_TRUE(is_injective<TypeParam>(n)) << "n = " << n;
  }
}

TYPED_TEST(EveryLayout, AlignsEveryReadToItsOwnSize) {
  // Structures of arrays keep their alignment for multiples of 32, which is what benchmarks use.
  for (const std::size_t n : {32U, 64U, 4096U}) {
    EXPECT_TRUE(is_aligned<TypeParam>(n)) << "n = " << n;
  }
}

TYPED_TEST(EveryLayout, HoldsEveryFieldInExactlyOneRead) {
  std::multiset<int> fields;
  for (const Read& read : TypeParam::reads) {
    EXPECT_TRUE(read.words == 1 || read.words == 2 || read.words == 4);
    for (unsigned w = 0; w < read.words; ++w) {
      if (read.fields[w] != padding) fields.insert(read.fields[w]);
    }
  }
  EXPECT_EQ(fields, (std::multiset<int>{0, 1, 2, 3, 4, 5, 6}));
}

TYPED_TEST(EveryLayout, IsAffineInTheLaneInsideAGroupOf32) {
  // The host reader steps through a group with one stride; this is what allows it.
  constexpr std::size_t n = 128;
  for (std::size_t r = 0; r < TypeParam::reads.size(); ++r) {
    const std::size_t stride = TypeParam::template first_word<std::size_t>(r, 1, n) -
                               TypeParam::template first_word<std::size_t>(r, 0, n);
    for (std::size_t group = 0; group < n / 32; ++group) {
      const auto first = TypeParam::template first_word<std::size_t>(r, group * 32, n);
      for (std::size_t lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(TypeParam::template first_word<std::size_t>(r, group * 32 + lane, n),
                  first + lane * stride);
      }
    }
  }
}

TYPED_TEST(EveryLayout, IssuesABlockThatHoldsAllThatIsWantedAndIsAlignedInItsRead) {
  const auto check = []<class Fields>() {
    unsigned wanted = 0;
    for (std::size_t r = 0; r < TypeParam::reads.size(); ++r) {
      const Read& read = TypeParam::reads[r];
      const Issue issue = issued<TypeParam, Fields>(r);
      for (unsigned w = 0; w < read.words; ++w) {
        if (read.fields[w] == padding || !Fields::wants(read.fields[w])) continue;
        ++wanted;
        EXPECT_GE(w, issue.offset);
        EXPECT_LT(w, issue.offset + issue.words);
      }
      if (issue.words == 0) continue;
      EXPECT_EQ(issue.offset % issue.words, 0U);
      EXPECT_LE(issue.offset + issue.words, read.words);
    }
    EXPECT_EQ(wanted, Fields::count);
  };
  check.template operator()<AllFields>();
  check.template operator()<Posmass>();
}

TEST(Layout, TakesTheBytesThatSiegelStates) {
  EXPECT_EQ(Aos::words(1000) * 4, 28'000U);  // seven floats, packed
  EXPECT_EQ(Soa::words(1000) * 4, 28'000U);
  EXPECT_EQ(Aoas::words(1000) * 4, 32'000U);  // "an eighth hidden 32 bit value"
  EXPECT_EQ(Soaoas::words(1000) * 4, 32'000U);
}

TEST(Layout, NeedsSevenReadsOrTwo) {
  EXPECT_EQ(Aos::reads.size(), 7U);     // Figure 3
  EXPECT_EQ(Soa::reads.size(), 7U);     // Figure 5
  EXPECT_EQ(Aoas::reads.size(), 2U);    // Figure 7
  EXPECT_EQ(Soaoas::reads.size(), 2U);  // Figure 9
}

TEST(Layout, ReadsOnlyTheFirstHalfOfSoaoasForPositionAndMass) {
  EXPECT_EQ((issued<Soaoas, Posmass>(0).words), 4U);
  EXPECT_EQ((issued<Soaoas, Posmass>(1).words), 0U);
}

TEST(Layout, NarrowsTheSecondReadOfAoasToTheMass) {
  EXPECT_EQ((issued<Aoas, Posmass>(1).offset), 2U);
  EXPECT_EQ((issued<Aoas, Posmass>(1).words), 1U);
  EXPECT_EQ((issued<Aoas, AllFields>(1).words), 4U);  // three words have no narrower block
}

TEST(WithLayout, FindsEveryPairOfNamesAndNoOther) {
  std::set<std::string> found;
  for (const char* layout : {"aos", "soa", "aoas", "soaoas", "aosoa32"}) {
    for (const char* fields : {"all", "posmass"}) {
      EXPECT_TRUE(with_layout(layout, fields, [&]<class L, class Fields>() {
        EXPECT_EQ(L::name, layout);
        EXPECT_EQ(Fields::name, fields);
        found.insert(std::string{L::name} + '/' + std::string{Fields::name});
      }));
    }
  }
  EXPECT_EQ(found.size(), 10U);
  EXPECT_FALSE(with_layout("aos", "velocity", []<class L, class Fields>() { FAIL(); }));
  EXPECT_FALSE(with_layout("soa2", "all", []<class L, class Fields>() { FAIL(); }));
}

}  // namespace
}  // namespace strata
