#include "micro/transfer/transfers.cu"

#include "micro/pattern/scattered_pieces.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::transfers {
namespace {

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

TEST(TransfersSample, IsOfThreeTransfersUnlessTheyAreBriefOrLong) {
  const auto copies = [](const Transfer& one) {
    return copy_times::copies_per_sample(least_seconds(one));
  };
  EXPECT_EQ(copies({.bytes = 1U << 26U}), 3U);
  EXPECT_EQ(copies({.bytes = 1U << 28U}), 1U);
  EXPECT_EQ(copies({.bytes = 4096 * 4, .pieces = 4096}), 1U);
  for (const Transfer& one :
       {Transfer{.bytes = 4}, Transfer{.bytes = 1U << 16U, .pieces = 16, .packed = true},
        Transfer{.bytes = 1U << 20U}}) {
    const double seconds = copies(one) * least_seconds(one);
    EXPECT_GT(seconds, 2.5e-4);
    EXPECT_LE(seconds, 5e-4);
  }
}

}  // namespace
}  // namespace strata::transfers
