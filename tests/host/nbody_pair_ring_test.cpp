// Pairs of rung pair_once: each pair once, in any warp.
#include "nbody/gravity/pair_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace strata::nbody::pair_ring {
namespace {

/// Some systems of so many tiles, and what their bodies have met when all warps are through.
struct Met {
  Ring ring;
  std::uint32_t systems;
  Shares shares;
  std::uint32_t bodies = ring.tiles * ring.per_thread * lanes;  // of a system
  std::vector<float> pairs =
      std::vector<float>(std::size_t{systems} * bodies * bodies);  // [i][j], j of i's system
  std::uint32_t segments = 0;  // turns of one group that follow each other

  Met(std::uint32_t tiles, std::uint32_t per_thread, std::uint32_t systems_wanted,
      std::uint32_t warps_at_once)
      : ring{tiles, per_thread},
        systems{systems_wanted},
        shares{shares_of(std::uint64_t{systems} * tiles * ring.turns_of_tile(), warps_at_once)} {
    for (std::uint32_t warp = 0; warp < shares.warps; ++warp)
      for (std::uint64_t at = shares.begin_of(warp); at < shares.begin_of(warp + 1);)
        at += meet(at, shares.begin_of(warp + 1) - at);
  }
  /// Turns from one on, of one group; returns how many.
  std::uint32_t meet(std::uint64_t from, std::uint64_t most) {
    const auto tile_of_all = static_cast<std::uint32_t>(from / ring.turns_of_tile());
    const std::uint32_t tile = tile_of_all % ring.tiles;
    const Turns turns =
        ring.turns_from(tile, static_cast<std::uint32_t>(from % ring.turns_of_tile()));
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(turns.end - turns.begin, most));
    EXPECT_GT(count, 0U);
    EXPECT_LT(turns.group, ring.tiles * ring.per_thread);
    float* const of_system = &pairs.at(std::size_t{tile_of_all / ring.tiles} * bodies * bodies);
    for (std::uint32_t turn = turns.begin; turn < turns.begin + count; ++turn)
      for (std::uint32_t mine = 0; mine < ring.per_thread * lanes; ++mine) {
        const std::size_t i = tile * ring.per_thread * lanes + mine;
        const std::size_t j = turns.group * lanes + (mine % lanes + turn) % lanes;
        of_system[i * bodies + j] += turns.weight;
        of_system[j * bodies + i] += turns.weight;
      }
    ++segments;
    return count;
  }
};

/// Pairs of two bodies of a system that did not meet once.
std::size_t wrong_pairs(const Met& met) {
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < met.pairs.size(); ++at) {
    const bool same = at / met.bodies % met.bodies == at % met.bodies;
    wrong += !same && met.pairs[at] != 1 ? 1 : 0;
  }
  return wrong;
}

TEST(PairRing, HasEachPairOnce) {
  for (const std::uint32_t per_thread : {4U, 8U, 12U, 16U})
    for (std::uint32_t tiles = 1; tiles <= 1 + 20 / per_thread; ++tiles)
      for (const std::uint32_t warps : {1U, 7U, 132U, 2640U}) {
        const std::uint32_t systems = tiles == 2 ? 3 : 1;
        EXPECT_EQ(wrong_pairs(Met{tiles, per_thread, systems, warps}), 0U)
            << per_thread << " a thread, " << tiles << " tiles, " << warps;
      }
}

TEST(PairRing, HasFewTurnsBesideThoseOfEachPairOnce) {
  for (const std::uint32_t per_thread : {4U, 8U, 12U, 16U})
    for (std::uint32_t tiles = 1; tiles < 70; ++tiles) {
      // A turn is of 32 × per_thread pairs. Those of turns 0 and 16 within a tile are met twice.
      const Ring ring{tiles, per_thread};
      const auto bodies = static_cast<double>(lanes * per_thread * tiles);
      const auto turns = static_cast<double>(tiles * ring.turns_of_tile());
      EXPECT_EQ(turns * lanes * per_thread, bodies * bodies / 2 + bodies * per_thread);
    }
}

TEST(PairRing, CutsAGroupOnlyWhereItsWeightChangesOrAShareEnds) {
  const Met met{3, 4, 1, 132};
  const std::uint32_t of_tile = 4 * 3 + 4;  // within the tile three of a group; the next tile
  EXPECT_LE(met.segments, 3 * of_tile + met.shares.warps);
}

TEST(PairDivisor, IsRightToTheLastNumber) {
  const auto check = [](std::uint64_t by, std::uint64_t quotient, std::uint64_t rest) {
    const auto [whole, left] = Divisor{by}.divide(quotient * by + rest);
    EXPECT_EQ(whole, quotient) << by;
    EXPECT_EQ(left, rest) << by;
  };
  for (const std::uint64_t by : {1ULL, 2ULL, 3ULL, 17ULL, 2056ULL, 4'294'967'295ULL})
    for (const std::uint64_t quotient : {0ULL, 1ULL, 16ULL, 8'388'607ULL, 4'294'967'296ULL})
      for (const std::uint64_t rest : {std::uint64_t{0}, by / 2, by - 1})
        check(by, quotient, rest);
}

struct Dealt {
  std::uint64_t turns;
  std::uint32_t at_once;
};
class PairShares : public testing::TestWithParam<Dealt> {};

TEST_P(PairShares, AreEvenAndHoldEveryTurn) {
  const auto [turns, at_once] = GetParam();
  const Shares shares = shares_of(turns, at_once);
  EXPECT_EQ(shares.begin_of(0), 0U);
  EXPECT_EQ(shares.begin_of(shares.warps), turns);
  EXPECT_LE(shares.begin_of(1), 1024U);
  EXPECT_LE(shares.rest, shares.warps);
  EXPECT_TRUE(shares.warps % at_once == 0 || shares.each <= 16);
  EXPECT_TRUE(shares.warps >= 4 * at_once || shares.each < 32);
  EXPECT_TRUE(shares.each >= 16 || shares.warps == 1);
}

INSTANTIATE_TEST_SUITE_P(OfManySizes, PairShares,
                         testing::Values(Dealt{1, 1}, Dealt{1, 2640}, Dealt{15, 4}, Dealt{16, 4},
                                         Dealt{17, 1}, Dealt{1000, 4}, Dealt{1000, 1584},
                                         Dealt{1'052'672, 2640}, Dealt{540'000'000, 1584},
                                         Dealt{70'000'000'000, 2640}));

}  // namespace
}  // namespace strata::nbody::pair_ring
