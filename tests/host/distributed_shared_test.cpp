#include "micro/latency/distributed_shared.cu"

#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <set>

namespace strata::distributed_shared {
namespace {

TEST(DistributedSharedRing, LeadsThroughEverySlotAndBack) {
  const Ring ring;
  std::set<std::uint32_t> seen;
  std::uint32_t at = ring.after(0);
  for (std::uint32_t load = 0; load < slots; ++load) {
    ASSERT_EQ(at, ring.after(load));
    seen.insert(at);
    at = ring.next.at(at);
  }
  EXPECT_EQ(at, ring.after(0));
  EXPECT_EQ(seen.size(), slots);
  EXPECT_EQ(long_loads / 5 % unroll, 0U);
  EXPECT_EQ(long_loads % unroll, 0U);
}

TEST(DistributedSharedTiles, AreReadAsFarAsTheWarpsOfABlockGo) {
  const Shape shape{.measure = Measure::bandwidth, .cluster = 4, .distance = 1, .warps = 8};
  const std::uint32_t of_round = 8 * chunk / 4;
  for (std::uint32_t rank = 0; rank < shape.cluster; ++rank) {
    const LinearWords words = tile_of((rank + 1) % 4);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 6 * of_round; ++i)  // four rounds are the tile
      sum += words.word(i % tile_words);
    EXPECT_EQ(expected_sum(shape, rank, 6), sum) << rank;
  }
  std::set<std::uint32_t> sums;
  for (std::uint32_t rank = 0; rank < 16; ++rank)
    sums.insert(expected_sum({.measure = Measure::bandwidth, .cluster = 16}, rank, 1));
  EXPECT_EQ(sums.size(), 16U);  // whose tile it was shows
  for (const std::uint32_t warps : {1U, 2U, 4U, 8U, 16U, 32U})
    EXPECT_EQ(tile_bytes % (warps * chunk), 0U);
}

TEST(DistributedSharedSums, TellTheTilesOfAClusterApartWhateverItsWarps) {
  for (const std::uint32_t warps : {1U, 2U, 4U, 8U, 16U, 32U}) {
    for (const std::uint32_t distance : {0U, 1U, 4U}) {
      const Shape shape{
          .measure = Measure::bandwidth, .cluster = 8, .distance = distance, .warps = warps};
      const Lengths lengths = describe(shape, 8).slopes.front().lengths;
      for (const Length& length : {lengths.brief, lengths.full}) {
        std::set<std::uint32_t> sums;
        for (std::uint32_t rank = 0; rank < shape.cluster; ++rank)
          sums.insert(expected_sum(shape, rank, length.rounds));
        EXPECT_EQ(sums.size(), shape.cluster) << warps << " warps, " << length.rounds << " rounds";
      }
    }
  }
}

}  // namespace
}  // namespace strata::distributed_shared
