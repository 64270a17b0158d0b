#include "harness/access/requests.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace strata::access {
namespace {

constexpr std::array every_generation{Generation::cc1_0, Generation::cc1_2, Generation::cc2,
                                      Generation::cc3,   Generation::cc5,   Generation::cc7};

/// Accesses of every kind: in order, apart, shared, scattered, backwards, with and without holes.
class AnyLanes : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr int tries = 1000;

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  LaneAccess next() {
    const unsigned width = GetParam();
    const std::uint64_t base = below(1U << 20U);
    const std::uint64_t stride = below(2) == 0 ? 1 : below(70);
    const std::uint64_t way = below(5);
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint64_t element = way == 0   ? below(512)
                                    : way == 1 ? (31 - lane) * stride
                                    : way == 2 ? lane / 4 * stride
                                               : lane * stride;
      addresses_.at(lane) = width * (base + element);
    }
    const std::uint64_t holes = below(3);
    auto mask = static_cast<std::uint32_t>(random_());
    if (holes == 0) mask = ~0U;
    if (holes == 1) mask |= static_cast<std::uint32_t>(random_());
    return {.width = width, .mask = mask, .addresses = addresses_.data()};
  }

  static WarpAccess general(const LaneAccess& access) {
    WarpAccess made{.width = access.width};
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      if ((access.mask >> lane & 1U) != 0) made.addresses.at(lane) = access.addresses[lane];
    }
    return made;
  }

  std::mt19937_64 random_{GetParam()};
  std::array<std::uint64_t, warp_lanes> addresses_{};
};

TEST_P(AnyLanes, AskForWhatTheModelSays) {
  for (int i = 0; i < tries; ++i) {
    const LaneAccess access = next();
    for (const auto generation : every_generation)
      ASSERT_EQ(lane_traffic(generation, access), traffic(generation, general(access)));
  }
}

TEST_P(AnyLanes, AreSummedUpAsOneByOne) {
  RequestCounter counter{RequestModel::global, every_generation};
  std::vector<Traffic> expected(every_generation.size());
  std::uint64_t ideal = 0;
  std::uint64_t contiguous = 0;
  for (int i = 0; i < tries; ++i) {
    const LaneAccess access = next();
    const std::uint64_t times = 1 + below(3);
    // Twice, once moved by whole lines: it is the same pattern.
    const std::uint64_t by = line_bytes * below(1000);
    counter.add(access, times);
    for (auto& address : addresses_)
      address += by;
    counter.add(access);
    const WarpAccess one = general(access);
    for (std::uint64_t t = 0; t < times + 1; ++t) {
      for (std::size_t g = 0; g < every_generation.size(); ++g)
        expected[g] += traffic(every_generation.at(g), one);
    }
    std::set<std::uint64_t> bytes;
    for (const auto& address : one.addresses) {
      for (unsigned b = 0; address && b < one.width; ++b)
        bytes.insert(*address + b);
    }
    ideal += (times + 1) * ((bytes.size() + 31) / 32);
    if (!bytes.empty()) {
      const std::uint64_t last = *bytes.begin() + bytes.size() - 1;
      contiguous += (times + 1) * (last / 32 - *bytes.begin() / 32 + 1);
    }
  }
  EXPECT_EQ(counter.sums().traffic, expected);
  EXPECT_EQ(counter.sums().ideal_sectors, ideal);
  EXPECT_EQ(counter.sums().contiguous_sectors, contiguous);
  EXPECT_EQ(counter.sums().traffic, expected);  // asking changes nothing
}

INSTANTIATE_TEST_SUITE_P(Widths, AnyLanes, testing::Values(1U, 2U, 4U, 8U, 16U));

class SharedLanes : public AnyLanes {};

TEST_P(SharedLanes, TakeTheWavefrontsOfTheModel) {
  RequestCounter counter{RequestModel::shared, {}};
  std::uint64_t expected = 0;
  for (int i = 0; i < tries; ++i) {
    const LaneAccess access = next();
    ASSERT_EQ(lane_wavefronts(access), shared_wavefronts(general(access)));
    counter.add(access);
    expected += shared_wavefronts(general(access));
  }
  EXPECT_EQ(counter.sums().wavefronts, expected);
}

INSTANTIATE_TEST_SUITE_P(Widths, SharedLanes, testing::Values(4U, 8U, 16U));

/// Loads of 8 and 16 bytes of shared memory, each in some lanes, as an H200 served them: lane l has
/// element (l % a) * b + (l / a) * c.
TEST(WideLoads, TakeTheWavefrontsThatWereCounted) {
  std::ifstream file{STRATA_ACCESS_DATA "/wide_loads.csv"};
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line, "width,lanes,a,b,c,wavefronts");
  unsigned known = 0;
  unsigned all_of_them = 0;
  while (std::getline(file, line)) {
    std::istringstream cells{line};
    std::array<std::uint64_t, 6> cell{};
    for (std::uint64_t& one : cell) {
      std::string text;
      std::getline(cells, text, ',');
      one = std::stoull(text, nullptr, 0);
    }
    const auto [width, mask, a, b, c, counted] = cell;
    std::array<std::uint64_t, warp_lanes> addresses{};
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      addresses.at(lane) = width * (lane % a * b + lane / a * c);
    const LaneAccess access{static_cast<unsigned>(width), static_cast<std::uint32_t>(mask),
                            addresses.data()};
    ++all_of_them;
    if (!wavefronts_are_known(access)) continue;
    ++known;
    EXPECT_EQ(lane_wavefronts(access), counted) << line;
  }
  EXPECT_GT(all_of_them, 1500U);
  EXPECT_GT(known, all_of_them * 9 / 10);
}

TEST(WideLoads, ThatNoRuleFitsAreNoExactNumber) {
  // Counted: 3, where the rules of whole warps give 2.
  std::array<std::uint64_t, warp_lanes> addresses{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    addresses.at(lane) = 16 * (lane % 2);
  const LaneAccess access{16, 0x99999999, addresses.data()};
  EXPECT_FALSE(wavefronts_are_known(access));
  RequestCounter counter{RequestModel::shared, {}};
  counter.add(access, 3);
  counter.add({16, ~0U, addresses.data()});
  EXPECT_EQ(counter.sums().unmodelled, 3U);
}

TEST(Requests, OfThirtyTwoBytesALaneAreOneOfTheWholeWarp) {
  std::array<std::uint64_t, warp_lanes> addresses{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    addresses.at(lane) = 4096 + 32 * lane;
  const Traffic found = lane_traffic(Generation::cc7, {32, ~0U, addresses.data()});
  EXPECT_EQ(found.requests, 1U);
  EXPECT_EQ(found.sectors, 32U);
  EXPECT_EQ(found.lines, 8U);
  EXPECT_EQ(found.bytes_used, 1024U);
  EXPECT_EQ(found.wavefronts, 8U);
}

TEST(Requests, OfBytesInSharedMemoryAreThoseOfTheirWords) {
  std::array<std::uint64_t, warp_lanes> addresses{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    addresses.at(lane) = lane;
  EXPECT_EQ(lane_wavefronts({1, ~0U, addresses.data()}), 1U);  // 8 words of 8 banks
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    addresses.at(lane) = 128 * lane + 1;
  EXPECT_EQ(lane_wavefronts({1, ~0U, addresses.data()}), 32U);  // 32 words of one bank
}

TEST(Requests, OfAtomicsServeALaneOfABankAtATime) {
  std::array<std::uint64_t, warp_lanes> addresses{};
  const auto of = [&](std::uint32_t mask = ~0U) {
    return atomic_wavefronts({4, mask, addresses.data()});
  };
  // Counted on an H200: atom.shared.add.u32 of 32 lanes at one word, 256 in 8 requests, and 270336
  // in 8448. Timed there: 1.00 cycle for words side by side, 32.0 for one word.
  addresses.fill(1024);
  EXPECT_EQ(of(), 32U);
  EXPECT_EQ(lane_wavefronts({4, ~0U, addresses.data()}), 1U);  // a load
  EXPECT_EQ(of(0x80000001), 2U);
  EXPECT_EQ(of(1), 1U);
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    addresses.at(lane) = 4 * lane;
  EXPECT_EQ(of(), 1U);
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    addresses.at(lane) = 4 * (lane / 4);
  EXPECT_EQ(of(), 4U);
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    addresses.at(lane) = 128 * (lane % 2);  // two words of one bank
  EXPECT_EQ(of(), 32U);
  RequestCounter swaps{model_of(true, SharedAtomic::swap), {}};
  swaps.add({4, ~0U, addresses.data()}, 3);
  EXPECT_EQ(swaps.sums().wavefronts, 3U * 64);
  EXPECT_EQ(swaps.sums().ideal_wavefronts, 3U);
}

TEST(IdealSectors, HoldTheDistinctBytesSideBySide) {
  std::array<std::uint64_t, warp_lanes> addresses{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    addresses.at(lane) = 100 + 4 * lane;
  EXPECT_EQ(distinct_bytes({4, ~0U, addresses.data()}), 128U);
  EXPECT_EQ(fewest_sectors(128), 4U);  // though these touch five
  EXPECT_EQ(lane_traffic(Generation::cc7, {4, ~0U, addresses.data()}).sectors, 5U);
  addresses.fill(64);
  EXPECT_EQ(distinct_bytes({4, ~0U, addresses.data()}), 4U);  // one word for all
  EXPECT_EQ(fewest_sectors(4), 1U);
  EXPECT_EQ(fewest_sectors(0), 0U);
  EXPECT_EQ(fewest_wavefronts(129), 2U);
}

}  // namespace
}  // namespace strata::access
