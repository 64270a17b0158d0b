#include "harness/model/lanes.hpp"
#include "harness/model/word_patterns.hpp"
#include "micro/access/coalescing.hpp"
#include "micro/pattern/particle_chain.hpp"

#include <gtest/gtest.h>

#include <set>

namespace strata {
namespace {

using namespace coalescing;

Pattern pattern(std::uint32_t width, std::uint32_t stride, std::uint32_t misalignment) {
  return {.width = width, .elements = lane_elements(stride, misalignment, Permutation::identity)};
}

constexpr std::uint64_t l2 = 60U << 20U;

TEST(CoalescingWindows, HoldTheirPatternInWholeLinesOfAnOddNumber) {
  for (const std::uint32_t width : {1U, 2U, 4U, 8U, 16U}) {
    for (const std::uint32_t stride : {1U, 2U, 7U, 32U, 33U, max_stride}) {
      for (const std::uint32_t misalignment : {0U, 1U, max_misalignment}) {
        const auto p = pattern(width, stride, misalignment);
        const auto windows = windows_for(p, 4224, l2);
        EXPECT_LE(*load_of(p).addresses.back() + width, windows.bytes);
        EXPECT_EQ(windows.bytes / line_bytes % 2, 1U);
        EXPECT_EQ(windows.bytes % line_bytes, 0U);
        EXPECT_EQ(windows.count % loads_per_round, 0U);
        const auto lines = traffic(Generation::cc7, load_of(p)).lines;
        EXPECT_LE(windows.count * lines * line_bytes, l2 / 4);
      }
    }
  }
}

TEST(CoalescingWindows, AreOneForEachLoadWhereTheyFit) {
  const auto narrow = windows_for(pattern(4, 1, 0), 4224, l2);
  EXPECT_EQ(narrow.count, 4224U * loads_per_round);
  EXPECT_EQ(narrow.bytes, line_bytes);
  const auto wide = windows_for(pattern(16, 128, 0), 4224, l2);
  EXPECT_EQ(wide.count, l2 / 4 / (32 * line_bytes));
}

TEST(CoalescingWindows, AreNeverNone) {
  EXPECT_EQ(windows_for(pattern(16, 128, 0), 1, 1024).count, loads_per_round);
}

TEST(CoalescingPattern, AsksForTheKnownSectorsOfPlainStrides) {
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(4, 1, 0))).sectors, 4U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(4, 1, 1))).sectors, 5U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(4, 2, 0))).sectors, 8U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(4, 7, 0))).sectors, 28U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(4, 32, 0))).sectors, 32U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(16, 1, 0))).sectors, 16U);
  EXPECT_EQ(traffic(Generation::cc7, load_of(pattern(1, 1, 31))).sectors, 2U);
}

TEST(CoalescingSums, AreThoseOfAPlainLoopOverAllLoads) {
  const auto p = pattern(2, 3, 1);
  constexpr Windows windows{.count = 8, .bytes = 3 * line_bytes};
  std::uint32_t sum = 0;
  for (std::uint32_t load = 0; load < loads_per_round; ++load) {
    const std::uint32_t window = (5 * loads_per_round + load) % windows.count;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t byte = window * windows.bytes + 2 * (3 * lane + 1);
      const std::uint32_t value = (hashed_word(byte / 4) >> (8 * (byte % 4))) & 0xFFFFU;
      sum += lane_weight(lane) * value;
    }
  }
  EXPECT_EQ(expected_sum(p, windows, /*warp=*/5), sum);
}

TEST(CoalescingSums, TellPermutationsApart) {
  const auto straight = pattern(4, 1, 0);
  auto turned = straight;
  std::ranges::reverse(turned.elements);
  constexpr Windows windows{.count = 8, .bytes = line_bytes};
  EXPECT_NE(expected_sum(straight, windows, 0), expected_sum(turned, windows, 0));
}

TEST(CoalescingRounds, TakeAboutTheTimeThatTheyShould) {
  for (const std::uint64_t sectors : {1U, 4U, 32U}) {
    const double cycles = rounds_for(4e5, sectors) * double{warps_per_sm} * loads_per_round *
                          std::max(4.0, static_cast<double>(sectors) / 2);
    EXPECT_NEAR(cycles, 4e5, 3e3);
  }
  EXPECT_EQ(rounds_for(1, 32), 1U);
}

TEST(CoalescingDeclaration, IsKnownToEveryBuild) {
  EXPECT_NE(find_benchmark("coalescing"), nullptr);
}

}  // namespace
}  // namespace strata
