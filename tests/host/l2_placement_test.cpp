#include "micro/latency/l2_placement.cu"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace strata::l2_placement {
namespace {

const SmSides five{.core = {0, 1, 4, 6, 7}, .side = {false, true, true, false, true}};
constexpr std::uint32_t pieces = 1200;
bool home_of(std::uint32_t piece) {
  return hashed_word(piece) % 2 != 0;
}

TEST(L2PlacementVisits, LetOneSmOfEachSideVisitEveryPiece) {
  const auto visits = share_visits(five, pieces);
  std::set<std::uint32_t> seen[2];
  for (std::size_t sm = 0; sm < visits.size(); ++sm) {
    EXPECT_EQ(visits[sm].size(), pieces / 2);
    seen[five.side[sm] ? 1 : 0].insert(visits[sm].begin(), visits[sm].end());
  }
  EXPECT_EQ(seen[0].size(), pieces);
  EXPECT_EQ(seen[1].size(), pieces);
}

/// Cycles of all visits, where SM and piece have distances of their own.
std::vector<double> cycles_of(const std::vector<std::vector<std::uint32_t>>& visits,
                              double crossing) {
  std::vector<double> cycles;
  for (std::size_t sm = 0; sm < visits.size(); ++sm) {
    for (const std::uint32_t piece : visits[sm]) {
      const double far = five.side[sm] == home_of(piece) ? 0 : crossing;
      cycles.push_back(1000 + 20.0 * static_cast<double>(sm) + hashed_word(piece) % 90 + far);
    }
  }
  return cycles;
}

TEST(L2PlacementSides, AreThoseOfTheFasterSm) {
  const auto visits = share_visits(five, pieces);
  const PieceSides sides = piece_sides(five, visits, cycles_of(visits, 800), 800, pieces);
  EXPECT_EQ(sides.unclear, 0U);
  EXPECT_EQ(sides.of[0].size() + sides.of[1].size(), pieces);
  for (const int side : {0, 1}) {
    for (const std::uint32_t piece : sides.of[side])
      EXPECT_EQ(home_of(piece), side == 1);
  }
}

TEST(L2PlacementSides, LeaveOutPiecesThatNeitherSideReachesFaster) {
  const auto visits = share_visits(five, pieces);
  const PieceSides sides = piece_sides(five, visits, cycles_of(visits, 0), 800, pieces);
  EXPECT_EQ(sides.unclear, pieces);
}

TEST(L2PlacementParts, AreOfTheSideThatTheOrderNames) {
  const auto visits = share_visits(five, pieces);
  const PieceSides sides = piece_sides(five, visits, cycles_of(visits, 800), 800, pieces);
  for (const Order order : {Order::address, Order::near, Order::far}) {
    const auto parts = parts_of(order, five, sides, 100);
    std::set<std::uint32_t> read;
    for (std::size_t sm = 0; sm < parts.size(); ++sm) {
      ASSERT_EQ(parts[sm].size(), 100U);
      read.insert(parts[sm].begin(), parts[sm].end());
      if (order == Order::address) continue;
      for (const std::uint32_t piece : parts[sm])
        EXPECT_EQ(home_of(piece) == five.side[sm], order == Order::near);
    }
    EXPECT_EQ(read.size(), 500U) << "no piece twice";
  }
  EXPECT_THROW((void)parts_of(Order::near, five, sides, 300), Skipped);
}

TEST(L2PlacementSums, AreThoseOfThePiecesOfAllRounds) {
  std::vector<std::uint32_t> part(2 * pieces_of_round);
  for (std::uint32_t i = 0; i < part.size(); ++i)
    part[i] = 3 * i + 1;
  constexpr std::uint32_t warp = 5;
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < 5; ++round) {
    for (std::uint32_t i = 0; i < pieces_of_warp; ++i) {
      const std::uint32_t piece = part[round % 2 * pieces_of_round + warp * pieces_of_warp + i];
      for (std::uint32_t w = 0; w < piece_words; ++w)
        sum += LinearWords{}.word(piece * piece_words + w);
    }
  }
  EXPECT_EQ(sum_of(part, warp, 5), sum);
}

TEST(L2PlacementCases, AreSkippedWhereL2IsSmaller) {
  const GpuFacts gpu{.sms = 100, .l2_bytes = std::uint64_t{20} << 20U};
  EXPECT_NO_THROW((void)describe({{"order", "near"}, {"part", "131072"}}, gpu));
  EXPECT_THROW((void)describe({{"order", "near"}, {"part", "262144"}}, gpu), Skipped);
  EXPECT_GE(pieces_of(gpu, 512), 51200U);
}

}  // namespace
}  // namespace strata::l2_placement
