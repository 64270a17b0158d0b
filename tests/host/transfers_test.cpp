#include "micro/transfer/transfers.hpp"

#include "micro/pattern/scattered_pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {
namespace {

using namespace transfers;

constexpr std::uint32_t gap = 0xA5A5A5A5U;

std::vector<std::uint32_t> numbered(std::size_t words) {
  std::vector<std::uint32_t> payload(words);
  for (std::size_t w = 0; w < words; ++w)
    payload[w] = static_cast<std::uint32_t>(7 * w + 1);
  return payload;
}

TEST(ScatteredPieces, OfOnePieceAreThePayloadItself) {
  const ScatteredPieces plan{12, 1};
  EXPECT_EQ(plan.host_words(), 12U);
  EXPECT_EQ(plan.host_at(0), 0U);
  EXPECT_EQ(plan.piece_bytes(), 48U);
}

TEST(ScatteredPieces, StandApartAndInNoOrder) {
  const ScatteredPieces plan{64 * 3, 64};
  std::set<std::size_t> places;
  bool in_order = true;
  for (std::size_t p = 0; p < plan.count(); ++p) {
    EXPECT_EQ(plan.host_at(p) % (3 + ScatteredPieces::gap_words), 0U);
    EXPECT_LE(plan.host_at(p) + plan.piece_words(), plan.host_words());
    if (!places.empty()) in_order = in_order && plan.host_at(p) > *places.rbegin();
    places.insert(plan.host_at(p));
  }
  EXPECT_EQ(places.size(), 64U);
  EXPECT_FALSE(in_order);
}

TEST(ScatteredPieces, ComeBackFromWhatTheyWerePackedInto) {
  for (const std::uint32_t pieces : {1U, 16U, 256U}) {
    const ScatteredPieces plan{1024, pieces};
    const auto payload = numbered(plan.words());
    std::vector<std::uint32_t> host(plan.host_words(), gap);
    plan.scatter(payload, host);
    EXPECT_EQ(plan.different(host, payload, gap), 0U);
    std::vector<std::uint32_t> packed(plan.words());
    plan.gather(host, packed);
    EXPECT_EQ(packed, payload);
  }
}

TEST(ScatteredPieces, NoticeEveryWrongWordAndEveryTouchedGap) {
  const ScatteredPieces plan{32, 4};
  const auto payload = numbered(plan.words());
  std::vector<std::uint32_t> host(plan.host_words(), gap);
  EXPECT_EQ(plan.different(host, payload, gap), 32U);
  plan.scatter(payload, host);
  ++host[plan.host_at(2) + 7];
  EXPECT_EQ(plan.different(host, payload, gap), 1U);
  ++host[plan.host_at(1) + plan.piece_words()];
  EXPECT_EQ(plan.different(host, payload, gap), 2U);
}

TEST(ScatteredPieces, RefuseWhatDoesNotComeOutEven) {
  EXPECT_THROW((ScatteredPieces{10, 4}), std::invalid_argument);
  EXPECT_THROW((ScatteredPieces{10, 0}), std::invalid_argument);
  EXPECT_THROW((ScatteredPieces{0, 1}), std::invalid_argument);
  const ScatteredPieces plan{8, 2};
  std::vector<std::uint32_t> host(plan.host_words());
  std::vector<std::uint32_t> packed(7);
  EXPECT_THROW(plan.gather(host, packed), std::length_error);
  EXPECT_THROW(plan.scatter(packed, host), std::length_error);
}

Params params(const char* memory, const char* direction, long long bytes, long long pieces,
              const char* packing) {
  return {{"memory", memory},
          {"direction", direction},
          {"bytes", std::to_string(bytes)},
          {"pieces", std::to_string(pieces)},
          {"packing", packing}};
}

TEST(TransfersDeclaration, LeavesOutWhatHasNoMeaning) {
  const Benchmark declared = declare();
  const auto excluded = [&](const Params& p) {
    return declared.excludes(p, Backend::cuda).has_value();
  };
  EXPECT_FALSE(excluded(params("pinned", "to_device", 4, 1, "none")));
  EXPECT_FALSE(excluded(params("pinned", "both", 1024, 1, "none")));
  EXPECT_FALSE(excluded(params("pageable", "to_host", 1024, 256, "packed")));
  EXPECT_TRUE(excluded(params("pageable", "to_host", 1020, 256, "packed")));
  EXPECT_TRUE(excluded(params("pinned", "to_device", 6, 1, "none")));
  EXPECT_TRUE(excluded(params("pinned", "to_device", 1024, 1, "packed")));
  EXPECT_TRUE(excluded(params("mapped", "to_device", 1024, 16, "none")));
  EXPECT_TRUE(excluded(params("pinned", "both", 1024, 16, "none")));
  EXPECT_TRUE(excluded(params("pageable", "both", 1024, 1, "none")));
}

TEST(TransfersDeclaration, HasSizesFromAWordToAQuarterGibibyte) {
  const auto sizes = declare().axis("bytes")->defaults;
  EXPECT_EQ(sizes.size(), 14U);
  EXPECT_EQ(sizes.front(), "4");
  EXPECT_EQ(sizes.back(), "268435456");
}

TEST(TransfersSample, IsLongOrOfThreeTransfers) {
  const auto of = [](std::uint64_t bytes, std::uint32_t pieces, bool packed) {
    return Transfer{.bytes = bytes, .pieces = pieces, .packed = packed};
  };
  EXPECT_EQ(transfers_per_sample(of(1U << 28U, 1, false)), 3U);
  EXPECT_EQ(transfers_per_sample(of(4096 * 4, 4096, false)), 3U);
  for (const Transfer& one : {of(4, 1, false), of(1U << 16U, 16, true), of(1U << 20U, 1, false)}) {
    const double seconds = transfers_per_sample(one) * least_seconds(one);
    EXPECT_GT(seconds, 2.5e-4);
    EXPECT_LE(seconds, 5e-4);
  }
}

TEST(TransfersQueue, HoldsWhatNeedsNothingOfTheHost) {
  EXPECT_TRUE((Transfer{.memory = Memory::pinned}).can_be_queued());
  EXPECT_TRUE((Transfer{.memory = Memory::mapped, .to_host = true}).can_be_queued());
  EXPECT_TRUE(is_held_back({.memory = Memory::pinned, .to_device = true, .bytes = 4}));
  EXPECT_FALSE(is_held_back({.memory = Memory::pinned, .to_device = true, .bytes = 1U << 28U}));
  EXPECT_FALSE((Transfer{.memory = Memory::pageable}).can_be_queued());
  EXPECT_FALSE((Transfer{.memory = Memory::pinned, .pieces = 16}).can_be_queued());
  EXPECT_FALSE((Transfer{.memory = Memory::pinned, .pieces = 16, .packed = true}).can_be_queued());
}

TEST(TransfersBytes, AreThoseOfBothDirections) {
  EXPECT_EQ((Transfer{.to_device = true, .to_host = false, .bytes = 8}).bytes_moved(), 8U);
  EXPECT_EQ((Transfer{.to_device = true, .to_host = true, .bytes = 8}).bytes_moved(), 16U);
}

}  // namespace
}  // namespace strata
