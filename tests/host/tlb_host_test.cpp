// Translations of this CPU: its chains, and the places of their words.
#include "case_here.hpp"
#include "harness/base/text.hpp"
#include "micro/latency/tlb.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace strata {
namespace {

constexpr std::uint64_t small_stride = 4096;
constexpr std::uint64_t huge_stride = std::uint64_t{2} << 20U;

bool excluded(std::string_view pages, std::uint64_t stride, std::uint64_t footprint,
              Backend backend = Backend::host) {
  return tlb::declare()
      .excludes({{"allocation", std::string{pages}},
                 {"stride", std::to_string(stride)},
                 {"footprint", std::to_string(footprint)}},
                backend)
      .has_value();
}

TEST(TlbOnAHost, ComparesPagesOfTwoSizesAtTheSamePlaces) {
  EXPECT_FALSE(excluded(tlb::small_pages, small_stride, tlb::least_host_footprint));
  EXPECT_FALSE(excluded(tlb::huge_pages, small_stride, tlb::least_host_footprint));
  EXPECT_FALSE(excluded(tlb::huge_pages, huge_stride, tlb::most_host_footprint));
  EXPECT_TRUE(excluded(tlb::small_pages, huge_stride, tlb::most_host_footprint));
  EXPECT_TRUE(excluded(tlb::small_pages, small_stride, tlb::most_host_footprint));
  EXPECT_TRUE(excluded(tlb::small_pages, 65536, tlb::least_footprint));
  EXPECT_TRUE(excluded(tlb::small_pages, huge_stride, tlb::least_footprint, Backend::cuda));
  EXPECT_TRUE(excluded("malloc", small_stride, tlb::least_footprint, Backend::cuda));
  EXPECT_TRUE(excluded("malloc", small_stride, tlb::least_footprint));
  EXPECT_TRUE(excluded("malloc", huge_stride, 8 * huge_stride / 2, Backend::cuda));
}

TEST(TlbOnAHost, HasBothKindsInADefaultSweep) {
  const Benchmark b = tlb::declare();
  std::map<std::string, int> cases;
  for (const auto& pages : b.axis("allocation")->defaults) {
    for (const auto& stride : b.axis("stride")->defaults) {
      for (const auto& footprint : b.axis("footprint")->defaults) {
        const Params params{{"allocation", pages}, {"stride", stride}, {"footprint", footprint}};
        if (!b.excludes(params, Backend::host)) ++cases[pages];
      }
    }
  }
  EXPECT_EQ(cases.size(), 2U);
  EXPECT_GE(cases[std::string{tlb::small_pages}], 40);
  EXPECT_GE(cases[std::string{tlb::huge_pages}], cases[std::string{tlb::small_pages}]);
}

TEST(TlbOnAHost, SpreadsTheWordsEvenlyOverTheSetsOfCaches) {
  constexpr std::uint64_t line = 64;
  constexpr std::uint64_t l1_sets = 64;
  constexpr std::uint64_t l2_sets = 2048;
  for (const std::uint64_t stride : {small_stride, huge_stride}) {
    std::map<std::uint64_t, std::uint64_t> l1;
    std::map<std::uint64_t, std::uint64_t> l2;
    for (std::uint64_t index = 0; index < 2 * l2_sets; ++index) {
      const std::uint64_t at = tlb::host_offset(index, stride);
      EXPECT_EQ(at / stride, index);
      EXPECT_EQ(at % line, 0U);
      ++l1[at / line % l1_sets];
      ++l2[at / line % l2_sets];
    }
    EXPECT_EQ(l1.size(), l1_sets);
    for (const auto& [set, words] : l1)
      EXPECT_EQ(words, 2 * l2_sets / l1_sets);
    EXPECT_GE(l2.size(), l2_sets * 9 / 10);
    for (const auto& [set, words] : l2)
      EXPECT_LE(words, 4U);
  }
}

TEST(TlbOnThisCpu, EndsWhereTheCycleSays) {
  for (const std::string_view pages : {tlb::small_pages, tlb::huge_pages})  // huge ones, if any
    (void)measure_here(
        "tlb", {{"allocation", std::string{pages}}, {"stride", "4096"}, {"footprint", "262144"}});
}

}  // namespace
}  // namespace strata
