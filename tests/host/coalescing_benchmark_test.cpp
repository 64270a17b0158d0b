#include "example_gpu.hpp"
#include "harness/model/lanes.hpp"
#include "harness/model/word_patterns.hpp"
#include "micro/access/coalescing.cu"
#include "micro/pattern/particle_chain.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <set>

namespace strata::coalescing {
namespace {

Pattern pattern(std::uint32_t width, std::uint32_t stride, std::uint32_t misalignment) {
  return {.width = width, .elements = lane_elements(stride, misalignment, Permutation::identity)};
}

GpuFacts gpu(std::uint32_t sms = 132, std::uint64_t l2_bytes = 60U << 20U) {
  GpuFacts facts = example_gpu(sms);
  facts.l2_bytes = l2_bytes;
  return facts;
}

TEST(CoalescingWindows, ContainTheirPatternInAnOddNumberOfWholeLines) {
  for (const std::uint32_t width : {1U, 2U, 4U, 8U, 16U}) {
    for (const std::uint32_t stride : {1U, 2U, 7U, 32U, 33U, max_stride}) {
      for (const std::uint32_t misalignment : {0U, 1U, max_misalignment}) {
        const auto p = pattern(width, stride, misalignment);
        const auto windows = windows_for(p, gpu());
        EXPECT_LE(*load_of(p).addresses.back() + width, windows.bytes);
        EXPECT_EQ(windows.bytes / line_bytes % 2, 1U);
        EXPECT_EQ(windows.bytes % line_bytes, 0U);
      }
    }
  }
}

TEST(CoalescingWindows, AreOfOneLoadEachAndTogetherInAThirdOfL2) {
  for (const GpuFacts& chip : {gpu(), gpu(132, 50U << 20U)}) {
    for (const std::uint32_t width : {1U, 2U, 4U, 8U, 16U}) {
      for (std::uint32_t stride = 1; stride <= max_stride; ++stride) {
        const auto p = pattern(width, stride, 0);
        const auto windows = windows_for(p, chip);
        EXPECT_EQ(windows.count, chip.sms * warps_for(p, chip) * loads_per_round);
        const auto lines = traffic(Generation::cc7, load_of(p)).lines;
        EXPECT_LE(windows.count * lines * line_bytes, chip.l2_bytes / 3);
      }
    }
  }
}

TEST(CoalescingWindows, OfManyLinesAreOfFewerWarps) {
  EXPECT_EQ(warps_for(pattern(4, 1, 0), gpu()), most_warps);
  EXPECT_EQ(warps_for(pattern(4, 16, 0), gpu()), 16U);
  EXPECT_EQ(warps_for(pattern(4, 32, 0), gpu()), least_warps);
}

TEST(CoalescingWindows, AreSharedWhereL2HasNoRoomForThoseOfTheFewestWarps) {
  const GpuFacts poor = gpu(40, 4U << 20U);
  EXPECT_EQ(warps_for(pattern(16, 128, 0), poor), least_warps);
  EXPECT_EQ(windows_for(pattern(16, 128, 0), poor).count, 340U);
  EXPECT_EQ(windows_for(pattern(16, 128, 0), gpu(1, 1024)).count, loads_per_round);
}

TEST(CoalescingWindows, AreReadInRandomOrderOnceEach) {
  constexpr Windows windows{.count = 4096, .bytes = line_bytes};
  std::vector<std::uint32_t> order = order_of(windows);
  std::uint32_t beside = 0;
  for (std::size_t i = 1; i < order.size(); ++i)
    beside += order[i] == order[i - 1] + 1 ? 1 : 0;
  EXPECT_LT(beside, 16U);
  EXPECT_EQ(order, order_of(windows));
  std::ranges::sort(order);
  for (std::uint32_t i = 0; i < windows.count; ++i)
    EXPECT_EQ(order[i], i);
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
  const auto order = order_of(windows);
  std::uint32_t sum = 0;
  for (std::uint32_t load = 0; load < loads_per_round; ++load) {
    const std::uint32_t window = order.at((5 * loads_per_round + load) % windows.count);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t byte = window * windows.bytes + 2 * (3 * lane + 1);
      const std::uint32_t value = (hashed_word(byte / 4) >> (8 * (byte % 4))) & 0xFFFFU;
      sum += lane_weight(lane) * value;
    }
  }
  EXPECT_EQ(expected_sum(p, windows, order, /*warp=*/5), sum);
}

TEST(CoalescingSums, TellPermutationsApart) {
  const auto straight = pattern(4, 1, 0);
  auto turned = straight;
  std::ranges::reverse(turned.elements);
  constexpr Windows windows{.count = 8, .bytes = line_bytes};
  const auto order = order_of(windows);
  EXPECT_NE(expected_sum(straight, windows, order, 0), expected_sum(turned, windows, order, 0));
}

}  // namespace
}  // namespace strata::coalescing
