// The closed forms against loops that do what the kernels do.
#include "micro/compute/divergence.cu"
#include "micro/latency/store_latency.cu"

#include <gtest/gtest.h>

#include <cstdint>

namespace strata::closed_forms {
namespace {

constexpr std::uint64_t rounds = 3;

TEST(IteratedMap, IsALoop) {
  std::uint32_t x = 7;
  for (std::uint64_t count = 0; count < 100; ++count) {
    EXPECT_EQ(iterated(7, 1664525, 11, count), x) << count;
    x = x * 1664525 + 11;
  }
}

TEST(Divergence, ExpectsTheEndOfEveryLanesPath) {
  for (const std::uint32_t paths : {1U, 2U, 32U}) {
    std::uint32_t sum = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      std::uint32_t x = hashed_word(lane);
      for (std::uint64_t step = 0; step < rounds * divergence::steps; ++step)
        x = x * divergence::factor + divergence::addend(lane % paths);
      sum += lane_weight(lane) * x;
    }
    EXPECT_EQ(divergence::expected_sum(paths, rounds), sum);
  }
}

TEST(StoreLatency, ExpectsTheStoredWordsOnlyAfterAStore) {
  std::uint32_t sum = 0;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    std::uint32_t x = hashed_word(lane);
    for (std::uint64_t step = 0; step < rounds * store_latency::steps; ++step)
      x = x * store_latency::factor + store_latency::addend;
    sum += lane_weight(lane) * x;
  }
  const std::uint64_t stored = std::uint64_t{sum} << 32U;
  EXPECT_EQ(store_latency::expected_sums(/*stores=*/true, rounds), stored | sum);
  EXPECT_EQ(store_latency::expected_sums(/*stores=*/false, rounds), sum);
  EXPECT_EQ(store_latency::expected_sums(/*stores=*/true, 0) >> 32U, 0U) << "no round, no store";
}

}  // namespace
}  // namespace strata::closed_forms
