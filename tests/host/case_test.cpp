#include "harness/case/case.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using strata::Backend;
using strata::Case;
using strata::Params;

TEST(Case, IdNamesEverythingThatTellsItFromOthers) {
  const Case one{"micro",
                 "layout_read",
                 Backend::cuda,
                 {{"warps_per_sm", "8"}, {"layout", "aos"}, {"block_size", "32"}}};
  EXPECT_EQ(one.id(), "micro/layout_read/cuda/block_size=32/layout=aos/warps_per_sm=8");
}

TEST(Case, IdOfABenchmarkWithoutAxesEndsWithTheBackend) {
  EXPECT_EQ((Case{"micro", "empty", Backend::host, {}}.id()), "micro/empty/host");
}

TEST(Case, IdDiffersWhenAnyPartDiffers) {
  const Case one{"micro", "b", Backend::cuda, {{"x", "1"}}};
  for (const auto& other : {Case{"nbody", "b", Backend::cuda, {{"x", "1"}}},
                            Case{"micro", "c", Backend::cuda, {{"x", "1"}}},
                            Case{"micro", "b", Backend::host, {{"x", "1"}}},
                            Case{"micro", "b", Backend::cuda, {{"y", "1"}}},
                            Case{"micro", "b", Backend::cuda, {{"x", "2"}}}}) {
    EXPECT_NE(one.id(), other.id());
    EXPECT_NE(one, other);
  }
}

TEST(Params, ReadAsTheParamsColumn) {
  EXPECT_EQ(strata::to_string(Params{}), "");
  EXPECT_EQ(strata::to_string(Params{{"b", "2"}, {"a", "1"}}), "a=1;b=2");
}

TEST(Backend, ComesBackFromItsWord) {
  for (const auto backend : {Backend::cuda, Backend::host}) {
    EXPECT_EQ(strata::enum_from<strata::Backend>(strata::to_string(backend)), backend);
  }
  EXPECT_EQ(strata::to_string(Backend::cuda), "cuda");
  EXPECT_EQ(strata::to_string(Backend::host), "host");
}

TEST(Backend, HasNoOtherWords) {
  for (const auto* const text : {"", "CUDA", "gpu", "cuda ", "cpu"}) {
    EXPECT_EQ(strata::enum_from<strata::Backend>(text), std::nullopt) << text;
  }
}

TEST(CanonicalWord, HoldsWhatStandsInAnIdUnquoted) {
  for (const auto* const text : {"aos", "aosoa32", "1e+3", "0.5", "-1", "A_b-c"}) {
    EXPECT_TRUE(strata::is_canonical_word(text)) << text;
  }
}

TEST(CanonicalWord, HoldsNothingThatAnIdOrATableUsesItself) {
  for (const auto* const text : {"", "a b", "a/b", "a=b", "a;b", "a,b", "a\"b", "a\n", "é", "a*"}) {
    EXPECT_FALSE(strata::is_canonical_word(text)) << text;
  }
  EXPECT_FALSE(strata::is_canonical_word(std::string(1, '\0')));
}

}  // namespace
