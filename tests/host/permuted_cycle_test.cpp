#include "micro/pattern/permuted_cycle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace strata {
namespace {

/// How often each slot is visited in one round.
std::vector<int> visits(const PermutedCycle& cycle) {
  std::vector<int> seen(cycle.slots(), 0);
  for (std::uint64_t step = 0; step < cycle.slots(); ++step)
    ++seen.at(cycle.slot_at(step));
  return seen;
}

TEST(PermutedCycle, VisitsEverySlotOnceForAnyNumberOfSlots) {
  for (std::uint64_t slots = 1; slots <= 300; ++slots) {
    EXPECT_TRUE(std::ranges::all_of(visits({slots, 7}), [](int n) { return n == 1; })) << slots;
  }
  for (const std::uint64_t slots : {1023U, 1024U, 1025U, 4095U, 4097U, 65535U, 65537U, 100003U}) {
    EXPECT_TRUE(std::ranges::all_of(visits({slots, slots}), [](int n) { return n == 1; })) << slots;
  }
}

TEST(PermutedCycle, ComesBackToItsFirstSlotAfterAllOfThem) {
  for (const std::uint64_t slots : {1U, 2U, 8U, 1000U}) {
    const PermutedCycle cycle{slots, 3};
    for (std::uint64_t step = 0; step < 2 * slots; ++step)
      EXPECT_EQ(cycle.slot_at(step + slots), cycle.slot_at(step));
  }
}

TEST(PermutedCycle, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const auto order = [](std::uint64_t seed) {
    std::vector<std::uint64_t> slots;
    for (std::uint64_t step = 0; step < 500; ++step)
      slots.push_back(PermutedCycle{1000, seed}.slot_at(step));
    return slots;
  };
  EXPECT_EQ(order(5), order(5));
  EXPECT_NE(order(5), order(6));
  EXPECT_NE(order(5), order(std::uint64_t{5} << 32U | 1U));
}

TEST(PermutedCycle, ShowsNoStrideThatAPrefetcherCouldFollow) {
  for (const std::uint64_t slots : {50000U, 65536U}) {
    const PermutedCycle cycle{slots, 11};
    std::map<std::int64_t, int> steps;
    int near = 0;
    for (std::uint64_t step = 0; step + 1 < slots; ++step) {
      const auto jump = static_cast<std::int64_t>(cycle.slot_at(step + 1)) -
                        static_cast<std::int64_t>(cycle.slot_at(step));
      ++steps[jump];
      near += std::abs(jump) <= 4 ? 1 : 0;
    }
    const auto most = std::ranges::max_element(
        steps, [](const auto& a, const auto& b) { return a.second < b.second; });
    // A random order jumps by d slots once on average, and by at most 4 slots eight times.
    EXPECT_LT(most->second, 12) << slots << " slots, jump " << most->first;
    EXPECT_LT(near, 30) << slots;
  }
}

TEST(PermutedCycle, SpreadsAnyPieceOfTheWalkOverAllSlots) {
  // Sixteenths of the slots, as the sets and banks of a memory see them, in a piece of the walk.
  constexpr std::uint64_t slots = std::uint64_t{3} << 30U;
  constexpr std::uint64_t piece = 16000;
  const PermutedCycle cycle{slots, 1};
  for (const std::uint64_t first : {std::uint64_t{0}, slots / 3, slots - piece}) {
    std::vector<int> high(16, 0);
    std::vector<int> low(16, 0);
    for (std::uint64_t step = first; step < first + piece; ++step) {
      const auto slot = cycle.slot_at(step);
      ASSERT_LT(slot, slots);
      ++high[slot * 16 / slots];
      ++low[slot % 16];
    }
    for (int part = 0; part < 16; ++part) {
      EXPECT_NEAR(high[static_cast<std::size_t>(part)], 1000, 160);  // 5 standard deviations
      EXPECT_NEAR(low[static_cast<std::size_t>(part)], 1000, 160);
    }
  }
}

TEST(PermutedCycle, IsKnownWhileCompiling) {
  static_assert(PermutedCycle{1, 9}.slot_at(0) == 0);
  static_assert(PermutedCycle{2, 9}.slot_at(0) != PermutedCycle{2, 9}.slot_at(1));
}

}  // namespace
}  // namespace strata
