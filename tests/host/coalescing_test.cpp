#include "harness/model/coalescing.hpp"

#include "harness/case/case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {
namespace {

using enum Generation;

/// Lane k reads `width` bytes at where(k); a negative address: the lane takes no part.
WarpAccess reads(unsigned width, const std::function<std::int64_t(std::int64_t)>& where) {
  WarpAccess access{.width = width};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const std::int64_t address = where(lane);
    if (address >= 0) access.addresses[lane] = static_cast<std::uint64_t>(address);
  }
  return access;
}

/// Lane k reads element k × stride of `width` bytes, from byte `base` on.
WarpAccess every(unsigned stride, unsigned width, unsigned base = 0) {
  return reads(width, [&](auto k) { return base + k * stride * width; });
}

/// As every(1, width, base), but lanes from `lanes` on take no part.
WarpAccess first_lanes(int lanes, unsigned width, unsigned base) {
  return reads(width, [&](auto k) { return k < lanes ? base + k * width : -1; });
}

/// Neighbours read each other's word.
WarpAccess swapped(unsigned width, unsigned base) {
  return reads(width, [&](auto k) { return base + (k ^ 1) * width; });
}

/// The first half-warp reads the even elements, the second the odd ones.
WarpAccess interleaved_halves(unsigned width) {
  return reads(width, [&](auto k) { return (k % 16 * 2 + k / 16) * width; });
}

/// Field `field` of 28-byte structures, as in Figure 2 of Siegel et al.
WarpAccess packed_structures(unsigned field) {
  return reads(4, [&](auto k) { return 28 * k + 4 * field; });
}

/// One access, worked by hand under the rules of one generation.
struct Example {
  std::string name;
  Generation generation;
  WarpAccess access;
  Traffic expected;
};

void PrintTo(const Example& example, std::ostream* out) {
  *out << example.name;
}

Traffic expect(std::uint64_t requests, std::uint64_t transactions, std::uint64_t sectors,
               std::uint64_t lines, std::uint64_t bytes_moved, std::uint64_t bytes_used,
               std::uint64_t wavefronts = 0) {
  return {.requests = requests,
          .transactions = transactions,
          .sectors = sectors,
          .lines = lines,
          .wavefronts = wavefronts,
          .bytes_moved = bytes_moved,
          .bytes_used = bytes_used};
}

// Columns of expect(): requests, transactions, sectors, lines, bytes moved, bytes used, wavefronts.
std::vector<Example> examples() {
  return {
      // Figure F-1 of the CUDA C Programming Guide 4.2: a warp reads 4-byte words from address 128
      // on. "Aligned and sequential": 1 × 64 B at 128 and 1 × 64 B at 192 on 1.x; 1 × 128 B through
      // L1 and 4 × 32 B through L2 on 2.x.
      {"GuideAlignedOn1_0", cc1_0, every(1, 4, 128), expect(2, 2, 4, 2, 128, 128)},
      {"GuideAlignedOn1_2", cc1_2, every(1, 4, 128), expect(2, 2, 4, 2, 128, 128)},
      {"GuideAlignedOn2", cc2, every(1, 4, 128), expect(1, 1, 4, 1, 128, 128)},
      {"GuideAlignedOn3", cc3, every(1, 4, 128), expect(1, 4, 4, 1, 128, 128)},
      // "Aligned and non-sequential": 8 × 32 B at each of 128, 160, 192 and 224 on 1.0, which is
      // one transaction a word; all others do not care.
      {"GuidePermutedOn1_0", cc1_0, swapped(4, 128), expect(2, 32, 4, 2, 1024, 128)},
      {"GuidePermutedOn1_2", cc1_2, swapped(4, 128), expect(2, 2, 4, 2, 128, 128)},
      {"GuidePermutedOn2", cc2, swapped(4, 128), expect(1, 1, 4, 1, 128, 128)},
      {"GuidePermutedOn3", cc3, swapped(4, 128), expect(1, 4, 4, 1, 128, 128)},
      // "Misaligned and sequential", one word on: 7 × 32 B at 128, 8 at 160, 192 and 224 each, 1 at
      // 256 on 1.0; 1 × 128 B at 128, 1 × 64 B at 192 and 1 × 32 B at 256 on 1.2; 128 B at 128 and
      // at 256 through L1, 5 × 32 B through L2 on 2.x.
      {"GuideMisalignedOn1_0", cc1_0, every(1, 4, 132), expect(2, 32, 6, 3, 1024, 128)},
      {"GuideMisalignedOn1_2", cc1_2, every(1, 4, 132), expect(2, 3, 6, 3, 128 + 64 + 32, 128)},
      {"GuideMisalignedOn2", cc2, every(1, 4, 132), expect(1, 2, 5, 2, 256, 128)},
      {"GuideMisalignedOn3", cc3, every(1, 4, 132), expect(1, 5, 5, 2, 160, 128)},

      // F.3.2.1, on 1.0 and 1.1: one 128-byte transaction a half-warp for 8-byte words, two for
      // 16-byte words, from the segment of 128 bytes that holds the first eight.
      {"EightByteWordsInOneSegmentOn1_0", cc1_0, every(1, 8), expect(2, 2, 8, 2, 256, 256)},
      {"EightByteWordsHalfASegmentOnOn1_0", cc1_0, every(1, 8, 64), expect(2, 32, 8, 4, 1024, 256)},
      {"SixteenByteWordsInTwoSegmentsOn1_0", cc1_0, every(1, 16), expect(2, 4, 16, 4, 512, 512)},
      {"SixteenByteWordsFromAnOddSegmentOn1_0", cc1_0, every(1, 16, 128),
       expect(2, 4, 16, 4, 512, 512)},
      {"SixteenByteWordsOneWordOnOn1_0", cc1_0, every(1, 16, 16), expect(2, 32, 18, 6, 1024, 512)},
      // "Coalescing is achieved even if […] there are some inactive threads".
      {"InactiveLanesStayCoalescedOn1_0", cc1_0,
       reads(4, [](auto k) { return k % 2 == 0 ? -1 : 4 * k; }), expect(2, 2, 4, 2, 128, 64)},
      {"InactiveLanesCostNothingWhenNotCoalescedOn1_0", cc1_0,
       reads(4, [](auto k) { return k % 2 == 0 ? -1 : 4 * k + 4; }), expect(2, 16, 6, 3, 512, 64)},
      {"OneLaneOutOfItsPlaceOn1_0", cc1_0, reads(4, [](auto k) { return k == 0 ? 4 : -1; }),
       expect(1, 1, 1, 1, 32, 4)},
      {"OneLaneInItsPlaceTakesTheWholeSegmentOn1_0", cc1_0,
       reads(4, [](auto k) { return k == 1 ? 4 : -1; }), expect(1, 1, 1, 1, 64, 4)},
      {"OneHalfWarpOfTwoCoalescedOn1_0", cc1_0,
       reads(4, [](auto k) { return 4 * (k < 16 ? k : k ^ 1); }),
       expect(2, 17, 4, 2, 64 + 16 * 32, 128)},
      {"EveryLaneTheSameWordOn1_0", cc1_0, every(0, 4), expect(2, 32, 2, 2, 1024, 4)},
      {"ReversedOn1_0", cc1_0, reads(4, [](auto k) { return 4 * (31 - k); }),
       expect(2, 32, 4, 2, 1024, 128)},

      // F.3.2.2, on 1.2 and 1.3.
      {"EveryLaneTheSameWordOn1_2", cc1_2, every(0, 4), expect(2, 2, 2, 2, 64, 4)},
      {"EightByteWordsOn1_2", cc1_2, every(1, 8), expect(2, 2, 8, 2, 256, 256)},
      {"SixteenByteWordsOn1_2", cc1_2, every(1, 16), expect(2, 4, 16, 4, 512, 512)},
      {"EveryOtherWordOn1_2", cc1_2, every(2, 4), expect(2, 2, 8, 2, 256, 128)},
      // Two words of a segment, one in each half: the segment is not halved, and twice as much is
      // moved as by 32 single transactions.
      {"SixteenWordsApartOn1_2", cc1_2, every(16, 4), expect(2, 16, 32, 16, 2048, 128)},
      {"ThirtyTwoWordsApartOn1_2", cc1_2, every(32, 4), expect(2, 32, 32, 32, 1024, 128)},
      // A half-warp of 64 bytes inside a segment of 128, and across two: "one 64-byte transaction
      // and one 32-byte transaction result" (CUDA C Best Practices Guide, misaligned access).
      {"MisalignedInsideASegmentOn1_2", cc1_2, first_lanes(16, 4, 4), expect(1, 1, 3, 1, 128, 64)},
      {"MisalignedAcrossSegmentsOn1_2", cc1_2, first_lanes(16, 4, 84),
       expect(1, 2, 3, 2, 64 + 32, 64)},

      // van den Braak et al., III-A and III-B, on an 8800 GT (1.1): a matrix of 512 columns read
      // across, and bytes, which coalesce only when four of them are read as one word; on 1.2
      // segments of 32 bytes for bytes and 64 for 2-byte words.
      {"MatrixReadAcrossOn1_0", cc1_0, every(512, 4), expect(2, 32, 32, 32, 1024, 128)},
      {"MatrixReadAlongOn1_0", cc1_0, every(1, 4), expect(2, 2, 4, 2, 128, 128)},
      {"BytesOn1_0", cc1_0, every(1, 1), expect(2, 32, 2, 2, 1024, 32)},
      {"TwoByteWordsOn1_0", cc1_0, every(1, 2), expect(2, 32, 2, 2, 1024, 64)},
      {"BytesOn1_2", cc1_2, every(1, 1), expect(2, 2, 2, 2, 64, 32)},
      {"BytesApartOn1_2", cc1_2, every(32, 1), expect(2, 32, 32, 8, 1024, 32)},
      {"TwoByteWordsOn1_2", cc1_2, every(1, 2), expect(2, 2, 2, 2, 64, 64)},
      {"TwoByteWordsApartInSegmentsOf64On1_2", cc1_2, every(4, 2), expect(2, 4, 8, 2, 256, 64)},
      {"TwoByteWordsAcrossTheMiddleOfASegmentOn1_2", cc1_2, first_lanes(16, 2, 16),
       expect(1, 1, 2, 1, 64, 32)},

      // F.4.2: on 2.x a request for each half-warp of 8-byte words and each quarter of 16-byte
      // ones.
      {"BytesOn2", cc2, every(1, 1), expect(1, 1, 1, 1, 128, 32)},
      {"EightByteWordsOn2", cc2, every(1, 8), expect(2, 2, 8, 2, 256, 256)},
      {"SixteenByteWordsOn2", cc2, every(1, 16), expect(4, 4, 16, 4, 512, 512)},
      {"InterleavedHalvesOn2", cc2, interleaved_halves(8), expect(2, 4, 16, 4, 512, 256)},
      {"ThirtyTwoWordsApartOn2", cc2, every(32, 4), expect(1, 32, 32, 32, 4096, 128)},
      {"OneQuarterOfAWarpOn2", cc2, first_lanes(8, 16, 0), expect(1, 1, 4, 1, 128, 128)},
      {"InterleavedHalvesOn3", cc3, interleaved_halves(8), expect(2, 16, 16, 4, 512, 256)},
      {"SixteenByteWordsOn3", cc3, every(1, 16), expect(4, 16, 16, 4, 512, 512)},
      {"ThirtyTwoWordsApartOn3", cc3, every(32, 4), expect(1, 32, 32, 32, 1024, 128)},
      {"EightByteWordsOn5", cc5, every(1, 8), expect(2, 8, 8, 2, 256, 256)},

      // CUDA C++ Best Practices Guide 12.4, 9.2.1.1, 9.2.1.2 and 9.2.1.4, for 6.0 and higher: four
      // 32-byte transactions, five when misaligned, eight with a stride of two, 32 at the worst.
      {"PracticesSimpleOn5", cc5, every(1, 4), expect(1, 4, 4, 1, 128, 128)},
      {"PracticesMisalignedOn5", cc5, every(1, 4, 4), expect(1, 5, 5, 2, 160, 128)},
      {"PracticesSimpleOn7", cc7, every(1, 4), expect(1, 4, 4, 1, 128, 128, 1)},
      {"PracticesPermutedOn7", cc7, swapped(4, 0), expect(1, 4, 4, 1, 128, 128, 1)},
      {"PracticesMisalignedOn7", cc7, every(1, 4, 4), expect(1, 5, 5, 2, 160, 128, 1)},
      {"PracticesStrideTwoOn7", cc7, every(2, 4), expect(1, 8, 8, 2, 256, 128, 1)},
      {"PracticesWorstStrideOn7", cc7, every(8, 4), expect(1, 32, 32, 8, 1024, 128, 1)},
      {"BytesOn7", cc7, every(1, 1), expect(1, 1, 1, 1, 32, 32, 1)},
      {"EightByteWordsOn7", cc7, every(1, 8), expect(1, 8, 8, 2, 256, 256, 2)},
      {"SixteenByteWordsOn7", cc7, every(1, 16), expect(1, 16, 16, 4, 512, 512, 4)},
      // The halves share every sector: a model by half-warps would count each of the 8 twice.
      {"InterleavedHalvesOn7", cc7, interleaved_halves(8), expect(1, 8, 8, 2, 256, 256, 2)},
      {"EveryLaneTheSameSixteenBytesOn7", cc7, every(0, 16), expect(1, 1, 1, 1, 32, 16, 4)},
      {"OneLaneOn7", cc7, first_lanes(1, 4, 128), expect(1, 1, 1, 1, 32, 4, 1)},

      // Siegel et al., Figure 3: "the reads for the threads of one warp half are not coalesced".
      // 28 bytes are less than a sector, so every sector of the 896 bytes is touched.
      {"SiegelPackedStructureOn1_0", cc1_0, packed_structures(0), expect(2, 32, 28, 8, 1024, 128)},
      {"SiegelPackedStructureOn1_2", cc1_2, packed_structures(0), expect(2, 8, 28, 8, 896, 128)},
      {"SiegelPackedStructureOn7", cc7, packed_structures(6), expect(1, 28, 28, 7, 896, 128, 1)},
  };
}

class HandWorked : public testing::TestWithParam<Example> {};

TEST_P(HandWorked, GivesTheCountsOfItsSource) {
  const Example& example = GetParam();
  const Traffic found = traffic(example.generation, example.access);
  EXPECT_EQ(found.requests, example.expected.requests);
  EXPECT_EQ(found.transactions, example.expected.transactions);
  EXPECT_EQ(found.sectors, example.expected.sectors);
  EXPECT_EQ(found.lines, example.expected.lines);
  EXPECT_EQ(found.wavefronts, example.expected.wavefronts);
  EXPECT_EQ(found.bytes_moved, example.expected.bytes_moved);
  EXPECT_EQ(found.bytes_used, example.expected.bytes_used);
}

INSTANTIATE_TEST_SUITE_P(Coalescing, HandWorked, testing::ValuesIn(examples()),
                         [](const auto& one) { return one.param.name; });

constexpr std::array all{cc1_0, cc1_2, cc2, cc3, cc5, cc7};
constexpr std::array widths{1U, 2U, 4U, 8U, 16U};

/// Seeded accesses of every kind: strides, lanes out of place, lanes left out, lanes that share.
class AnyAccess : public testing::Test {
 protected:
  static constexpr int tries = 2000;

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  WarpAccess next() {
    WarpAccess access{.width = widths[below(widths.size())]};
    const std::uint64_t base = below(1U << 20U);
    const std::uint64_t stride = below(3) == 0 ? 1 : below(70);
    const bool scattered = below(3) == 0;
    const bool whole = below(2) == 0;
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) {
      if (!whole && below(3) == 0) continue;
      access.addresses[lane] = access.width * (base + (scattered ? below(512) : lane * stride));
    }
    if (below(3) == 0) std::ranges::shuffle(access.addresses, random_);
    return access;
  }

  std::mt19937_64 random_{2009};
};

TEST_F(AnyAccess, TouchesAtLeastTheSectorsThatItsBytesFill) {
  for (int i = 0; i < tries; ++i) {
    const WarpAccess access = next();
    for (const auto generation : all) {
      const Traffic t = traffic(generation, access);
      EXPECT_GE(t.sectors, (t.bytes_used + sector_bytes - 1) / sector_bytes);
      EXPECT_GE(t.lines, (t.bytes_used + line_bytes - 1) / line_bytes);
      EXPECT_GE(t.bytes_moved, t.bytes_used);
      EXPECT_LE(t.lines, t.sectors);
      EXPECT_LE(t.sectors, 4 * t.lines);
      EXPECT_LE(t.requests, t.transactions);
    }
  }
}

TEST_F(AnyAccess, CountsOn7AsAWalkOverEveryByteDoes) {
  for (int i = 0; i < tries; ++i) {
    const WarpAccess access = next();
    std::set<std::uint64_t> bytes;
    std::set<std::uint64_t> sectors;
    std::set<std::uint64_t> lines;
    std::uint64_t asked = 0;
    for (const auto& address : access.addresses) {
      for (unsigned b = 0; address && b < access.width; ++b) {
        bytes.insert(*address + b);
        sectors.insert((*address + b) / 32);
        lines.insert((*address + b) / 128);
        ++asked;
      }
    }
    const Traffic t = traffic(cc7, access);
    EXPECT_EQ(t.requests, asked > 0 ? 1U : 0U);
    EXPECT_EQ(t.sectors, sectors.size());
    EXPECT_EQ(t.transactions, sectors.size());
    EXPECT_EQ(t.bytes_moved, 32 * sectors.size());
    EXPECT_EQ(t.lines, lines.size());
    EXPECT_EQ(t.bytes_used, bytes.size());
    EXPECT_EQ(t.wavefronts, (asked + 127) / 128);
  }
}

// Words of 8 and 16 bytes are left out below 7.x for a reason: there a half- or quarter-warp is a
// request, so it matters which lanes sit in it. InterleavedHalvesOn2 and …On3 above show it.
TEST_F(AnyAccess, DoesNotCareForTheOrderOfLanesWhereAWarpIsOneRequest) {
  for (int i = 0; i < tries; ++i) {
    const WarpAccess access = next();
    WarpAccess permuted = access;
    std::ranges::shuffle(permuted.addresses, random_);
    EXPECT_EQ(traffic(cc7, permuted), traffic(cc7, access));
    if (access.width > 4) continue;
    for (const auto generation : {cc2, cc3, cc5})
      EXPECT_EQ(traffic(generation, permuted), traffic(generation, access));
  }
}

TEST_F(AnyAccess, DoesNotCareForTheOrderInsideARequest) {
  for (int i = 0; i < tries; ++i) {
    const WarpAccess access = next();
    WarpAccess permuted = access;
    for (std::size_t first = 0; first < warp_lanes; first += 8) {
      const auto quarter = std::span{permuted.addresses}.subspan(first, 8);
      std::shuffle(quarter.begin(), quarter.end(), random_);
    }
    for (const auto generation : {cc1_2, cc2, cc3, cc5, cc7})
      EXPECT_EQ(traffic(generation, permuted), traffic(generation, access));
  }
}

// Bytes may be more: two lanes in the two halves of a segment cost 128 bytes on 1.2 and 2 × 32 on
// 1.0. SixteenWordsApartOn1_2 above is a warp of them.
TEST_F(AnyAccess, NeverTakesMoreTransactionsOn1_2ThanOn1_0) {
  for (int i = 0; i < tries; ++i) {
    const WarpAccess access = next();
    EXPECT_LE(traffic(cc1_2, access).transactions, traffic(cc1_0, access).transactions);
  }
  EXPECT_GT(traffic(cc1_2, every(16, 4)).bytes_moved, traffic(cc1_0, every(16, 4)).bytes_moved);
}

TEST_F(AnyAccess, MovesNoMoreOn1_2ThanOn1_0WhereThatCoalesces) {
  for (int i = 0; i < tries; ++i) {
    const unsigned width = widths[2 + below(3)];
    const std::uint64_t base = 256 * below(1000);
    WarpAccess access{.width = width};
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) {
      if (below(4) != 0) access.addresses[lane] = base + lane * width;
    }
    EXPECT_LE(traffic(cc1_2, access).bytes_moved, traffic(cc1_0, access).bytes_moved);
  }
}

TEST_F(AnyAccess, MovesSectorsOfALineNeverMoreThanTheLine) {
  for (int i = 0; i < tries; ++i) {
    const WarpAccess access = next();
    EXPECT_LE(traffic(cc3, access).bytes_moved, traffic(cc2, access).bytes_moved);
    EXPECT_LE(traffic(cc7, access).bytes_moved, traffic(cc3, access).bytes_moved);
  }
}

// 1.0 is left out: the lane that goes may be the one that was out of its place.
TEST_F(AnyAccess, AsksForNoLessWithALaneMore) {
  for (int i = 0; i < tries; ++i) {
    const WarpAccess access = next();
    WarpAccess fewer = access;
    fewer.addresses[below(warp_lanes)].reset();
    for (const auto generation : {cc1_2, cc2, cc3, cc5, cc7}) {
      const Traffic with = traffic(generation, access);
      const Traffic without = traffic(generation, fewer);
      EXPECT_LE(without.transactions, with.transactions);
      EXPECT_LE(without.bytes_moved, with.bytes_moved);
      EXPECT_LE(without.bytes_used, with.bytes_used);
    }
  }
}

TEST_F(AnyAccess, CostsTheSameAnyNumberOf256BytesOn) {
  for (int i = 0; i < tries; ++i) {
    const WarpAccess access = next();
    WarpAccess moved = access;
    const std::uint64_t far = 256 * (1 + below(std::uint64_t{1} << 40U));
    for (auto& address : moved.addresses) {
      if (address) *address += far;
    }
    for (const auto generation : all)
      EXPECT_EQ(traffic(generation, moved), traffic(generation, access));
  }
}

TEST(Traffic, OfAnAccessWithoutLanesIsNothing) {
  for (const auto generation : all) {
    for (const unsigned width : widths)
      EXPECT_EQ(traffic(generation, WarpAccess{.width = width}), Traffic{});
  }
  EXPECT_EQ(Traffic{}.moved_over_used(), 0);
}

TEST(Traffic, RefusesWhatNoLoadCanAskFor) {
  EXPECT_THROW((void)traffic(cc7, WarpAccess{.width = 3}), std::invalid_argument);
  EXPECT_THROW((void)traffic(cc7, WarpAccess{.width = 0}), std::invalid_argument);
  EXPECT_THROW((void)traffic(cc7, WarpAccess{.width = 32}), std::invalid_argument);
  EXPECT_THROW((void)traffic(cc7, first_lanes(1, 8, 4)), std::invalid_argument);
  EXPECT_THROW((void)traffic(cc1_0, first_lanes(1, 2, 1)), std::invalid_argument);
}

TEST(Traffic, HoldsAtBothEndsOfTheAddressSpace) {
  // Lane 8 of 16-byte words at address 0: its segment would begin 128 bytes below.
  const auto low = reads(16, [](auto k) { return k == 8 ? 0 : -1; });
  EXPECT_EQ(traffic(cc1_0, low).bytes_moved, 32U);
  WarpAccess high{.width = 16};
  high.addresses[31] = ~std::uint64_t{15};
  for (const auto generation : all)
    EXPECT_EQ(traffic(generation, high).sectors, 1U);
}

TEST(Traffic, DividesWhatIsMovedByWhatIsUsed) {
  EXPECT_DOUBLE_EQ(traffic(cc7, every(1, 4)).moved_over_used(), 1);
  EXPECT_DOUBLE_EQ(traffic(cc7, every(8, 4)).moved_over_used(), 8);
  EXPECT_DOUBLE_EQ(traffic(cc2, every(32, 4)).moved_over_used(), 32);
}

TEST(SequenceTraffic, IsTheSumOfItsAccesses) {
  const std::vector<WarpAccess> accesses{every(1, 4), every(2, 8), every(1, 16, 4096)};
  for (const auto generation : all) {
    Traffic sum;
    for (const auto& access : accesses)
      sum += traffic(generation, access);
    EXPECT_EQ(traffic(generation, accesses).total, sum);
  }
}

TEST(SequenceTraffic, KnowsTheSectorsThatAnEarlierAccessTouched) {
  EXPECT_EQ(traffic(cc7, std::vector{every(1, 4), every(1, 4, 128)}).repeated_sectors, 0U);
  EXPECT_EQ(traffic(cc7, std::vector{every(1, 4), every(1, 4)}).repeated_sectors, 4U);
  EXPECT_EQ(traffic(cc7, std::vector{every(1, 4), every(1, 4, 96)}).repeated_sectors, 1U);
  EXPECT_DOUBLE_EQ(traffic(cc7, std::vector{every(1, 4), every(1, 4)}).repeated_share(), 0.5);
}

TEST(SequenceTraffic, DoesNotTakeTheRequestsOfOneAccessForRepetitions) {
  // On 2.x the halves are requests of their own and touch the same 8 sectors: 16, none repeated.
  const std::vector<WarpAccess> once{interleaved_halves(8)};
  EXPECT_EQ(traffic(cc2, once).total.sectors, 16U);
  EXPECT_EQ(traffic(cc2, once).repeated_sectors, 0U);
  const std::vector<WarpAccess> twice{interleaved_halves(8), interleaved_halves(8)};
  EXPECT_EQ(traffic(cc2, twice).repeated_sectors, 16U);
}

TEST(SequenceTraffic, OfNothingIsNothing) {
  EXPECT_EQ(traffic(cc7, std::vector<WarpAccess>{}).total, Traffic{});
  EXPECT_EQ(traffic(cc7, std::vector<WarpAccess>{}).repeated_share(), 0);
}

TEST(Generations, AreFoundByTheirNamesWhichMayStandInACaseId) {
  ASSERT_EQ(generations().size(), all.size());
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const GenerationInfo& info = generations()[i];
    EXPECT_EQ(info.generation, all[i]);
    EXPECT_EQ(info_of(all[i]).name, info.name);
    EXPECT_EQ(generation_from(info.name), all[i]);
    EXPECT_TRUE(is_canonical_word(info.name)) << info.name;
    names.insert(info.name);
  }
  EXPECT_EQ(names.size(), all.size());
  EXPECT_FALSE(generation_from("8.x"));
  EXPECT_FALSE(generation_from(""));
}

TEST(Generations, SayTheirRuleAndCiteADocumentWithASection) {
  for (const GenerationInfo& info : generations()) {
    EXPECT_FALSE(info.chips.empty());
    EXPECT_TRUE(info.rule.ends_with('.')) << info.rule;
    EXPECT_NE(info.source.find("Guide"), std::string_view::npos);
    EXPECT_TRUE(std::ranges::any_of(info.source, [](unsigned char c) { return std::isdigit(c); }));
  }
}

TEST(Generations, CoverEveryComputeCapability) {
  EXPECT_EQ(generation_of(1, 0), cc1_0);
  EXPECT_EQ(generation_of(1, 1), cc1_0);
  EXPECT_EQ(generation_of(1, 2), cc1_2);
  EXPECT_EQ(generation_of(1, 3), cc1_2);
  EXPECT_EQ(generation_of(2, 1), cc2);
  EXPECT_EQ(generation_of(3, 0), cc3);
  EXPECT_EQ(generation_of(3, 7), cc3);
  EXPECT_EQ(generation_of(5, 2), cc5);
  EXPECT_EQ(generation_of(6, 1), cc5);
  EXPECT_EQ(generation_of(7, 0), cc7);
  EXPECT_EQ(generation_of(9, 0), cc7);
  EXPECT_EQ(generation_of(12, 1), cc7);
  EXPECT_EQ(generation_of(99, 0), cc7);
}

}  // namespace
}  // namespace strata
