#include "micro/access/bank_conflicts.cu"

#include "harness/model/coalescing.hpp"
#include "harness/model/word_patterns.hpp"
#include "micro/pattern/particle_chain.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace strata::bank_conflicts {
namespace {

using enum Provenance;

std::uint64_t wavefronts(const Pattern& pattern) {
  return shared_wavefronts(access_of(pattern));
}

std::vector<Pattern> patterns() {
  std::vector<Pattern> all;
  for (const std::uint32_t width : {4U, 8U, 16U}) {
    for (const std::uint32_t stride : {1U, 2U, 7U, 32U, max_stride}) {
      for (const Sharing sharing : {Sharing::none, Sharing::pairs, Sharing::all})
        all.push_back(make_pattern(width, stride, sharing, /*store=*/false));
    }
  }
  return all;
}

TEST(BankConflictPatterns, TakeTheWavefrontsThatTextbooksGive) {
  EXPECT_EQ(wavefronts(make_pattern(4, 1, Sharing::none, false)), 1U);
  EXPECT_EQ(wavefronts(make_pattern(4, 2, Sharing::none, false)), 2U);
  EXPECT_EQ(wavefronts(make_pattern(4, 32, Sharing::none, false)), 32U);
  EXPECT_EQ(wavefronts(make_pattern(4, 33, Sharing::none, false)), 1U);
  EXPECT_EQ(wavefronts(make_pattern(8, 1, Sharing::none, false)), 2U);
  EXPECT_EQ(wavefronts(make_pattern(16, 1, Sharing::none, false)), 4U);
  EXPECT_EQ(wavefronts(make_pattern(4, 32, Sharing::pairs, false)), 16U);
  EXPECT_EQ(wavefronts(make_pattern(8, 1, Sharing::pairs, false)), 1U);
  EXPECT_EQ(wavefronts(make_pattern(16, 1, Sharing::all, false)), 2U);
}

TEST(BankConflictPatterns, StayInTheirField) {
  for (const auto& pattern : patterns()) {
    for (const std::uint32_t element : pattern.elements) {
      const std::uint32_t end =
          (element + 1) * pattern.width + (warps_per_sm - 1 + accesses_per_round - 1) * shift_bytes;
      EXPECT_LE(end, field_words * word_bytes);
    }
  }
}

TEST(BankConflictWindows, AreAnOddNumberThatFitsSideBySide) {
  for (const auto& pattern : patterns()) {
    const auto windows = windows_for(pattern);
    EXPECT_EQ(windows.count % 2, 1U);
    EXPECT_GE(windows.count, 3U);
    EXPECT_LE(windows.count * windows.bytes, chain_words * word_bytes);
    EXPECT_EQ(windows.bytes % shift_bytes, 0U);
    EXPECT_GE(windows.bytes, (*std::ranges::max_element(pattern.elements) + 1) * pattern.width);
    std::set<std::uint32_t> seen;
    for (std::uint32_t at = 0; seen.insert(at).second; at = windows.next.at(at)) {
    }
    EXPECT_EQ(seen.size(), windows.count);
  }
}

TEST(BankConflictChain, IsThatOfPlainLoadsThroughMemory) {
  for (const auto& pattern : patterns()) {
    const auto windows = windows_for(pattern);
    std::vector<std::uint32_t> memory(chain_words);
    for (std::uint32_t i = 0; i < chain_words; ++i)
      memory[i] = hashed_word(i);
    for (std::uint32_t w = 0; w < windows.count; ++w) {
      for (const std::uint32_t element : pattern.elements) {
        memory[(w * windows.bytes + element * pattern.width) / word_bytes] =
            windows.next.at(w) * windows.bytes + element * pattern.width;
      }
    }
    for (const std::uint32_t loads : {unroll, 5 * unroll}) {
      std::uint32_t sum = 0;
      for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        std::uint32_t at = pattern.elements.at(lane) * pattern.width;
        std::uint32_t others = 0;
        for (std::uint32_t i = 0; i < loads; ++i) {
          for (std::uint32_t w = 1; w < pattern.width / word_bytes; ++w)
            others += memory[at / word_bytes + w];
          at = memory[at / word_bytes];
        }
        sum += lane_weight(lane) * (others + at);
      }
      EXPECT_EQ(expected_chain(pattern, windows, loads), sum);
    }
  }
}

TEST(BankConflictLoads, SumUpTheWordsOfEveryAccess) {
  const auto pattern = make_pattern(8, 3, Sharing::none, false);
  std::uint32_t sum = 0;
  for (std::uint32_t access = 0; access < accesses_per_round; ++access) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t byte = 5 * shift_bytes + access * shift_bytes + lane * 24;
      sum += lane_weight(lane) * (hashed_word(byte / 4) + hashed_word(byte / 4 + 1));
    }
  }
  EXPECT_EQ(expected_sums(pattern)[5].word(1), sum);
  EXPECT_EQ(expected_sums(pattern)[5].word(7), 7 * sum);
}

TEST(BankConflictLoads, DifferFromWarpToWarpAndLaneToLane) {
  const auto pattern = make_pattern(4, 1, Sharing::none, false);
  auto turned = pattern;
  std::ranges::reverse(turned.elements);
  EXPECT_NE(expected_sums(pattern)[0], expected_sums(pattern)[1]);
  EXPECT_NE(expected_sums(pattern)[0], expected_sums(turned)[0]);
}

TEST(BankConflictStores, LeaveWhatEveryWarpWroteLast) {
  for (const std::uint32_t width : {4U, 8U, 16U}) {
    for (const std::uint32_t stride : {1U, 5U, 32U}) {
      const auto pattern = make_pattern(width, stride, Sharing::none, true);
      const auto stored = expected_sums(pattern);
      for (const std::uint32_t rounds : {1U, 3U}) {
        std::vector<std::uint32_t> field(field_words);
        for (std::uint32_t i = 0; i < field_words; ++i)
          field[i] = hashed_word(field_words + i);
        for (std::uint32_t round = 0; round < rounds; ++round) {
          for (std::uint32_t warp = 0; warp < warps_per_sm; ++warp) {
            for (std::uint32_t access = 0; access < accesses_per_round; ++access) {
              for (const std::uint32_t element : pattern.elements) {
                const std::uint32_t word =
                    (warp + access) * shift_words + element * width / word_bytes;
                for (std::uint32_t w = 0; w < width / word_bytes; ++w)
                  field.at(word + w) = hashed_word(word + w) + round * store_change;
              }
            }
          }
        }
        std::array<std::uint32_t, warps_per_sm> sums{};
        for (std::uint32_t i = 0; i < field_words; ++i)
          sums.at(i % (warps_per_sm * warp_lanes) / warp_lanes) += lane_weight(i) * field[i];
        for (std::uint32_t warp = 0; warp < warps_per_sm; ++warp)
          EXPECT_EQ(stored.at(warp).word(rounds), sums.at(warp));
      }
    }
  }
}

}  // namespace
}  // namespace strata::bank_conflicts
