#include "micro/latency/tlb.hpp"

#include "harness/case/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata {
namespace {

constexpr std::uint64_t page = std::uint64_t{2} << 20U;

bool excluded(const std::string& stride, const std::string& footprint,
              Backend backend = Backend::cuda) {
  const Params params{{"allocation", "malloc"}, {"stride", stride}, {"footprint", footprint}};
  return tlb::declare().excludes(params, backend).has_value();
}

TEST(TlbDeclaration, SweepsPagesFromAFewToAHundredGibibytes) {
  const Benchmark b = tlb::declare();
  int cases = 0;
  std::vector<std::string> swept;
  for (const auto& footprint : b.axis("footprint")->defaults) {
    if (excluded("2097152", footprint)) continue;
    EXPECT_EQ(static_cast<std::uint64_t>(whole_number(footprint).value()) % page, 0U);
    swept.push_back(footprint);
    ++cases;
  }
  EXPECT_GE(cases, 80);
  EXPECT_EQ(swept.front(), std::to_string(tlb::least_footprint));
  EXPECT_EQ(swept.back(), std::to_string(tlb::most_footprint));
}

TEST(TlbDeclaration, LeavesOutWhatHasNoMeaning) {
  EXPECT_TRUE(excluded("2097152", "16777216", Backend::host));
  EXPECT_TRUE(excluded("33554432", "33554432"));   // one slot
  EXPECT_TRUE(excluded("33554432", "50331648"));   // a slot and a half
  EXPECT_FALSE(excluded("65536", "17179869184"));  // 2^18 lines: 32 MiB
  EXPECT_TRUE(excluded("65536", "34359738368"));   // more lines than L2 holds
  EXPECT_FALSE(excluded("33554432", std::to_string(tlb::most_footprint)));
}

TEST(TlbWarmLoads, GoRoundOnceWhereTheChainIsShort) {
  EXPECT_EQ(tlb::warm_loads_for(2), 64U);
  EXPECT_EQ(tlb::warm_loads_for(1000), 1008U);
  EXPECT_EQ(tlb::warm_loads_for(65536), 2048U);
}

TEST(TlbDeclaration, IsKnownToEveryBuild) {
  EXPECT_NE(find_benchmark("tlb"), nullptr);
}

}  // namespace
}  // namespace strata
