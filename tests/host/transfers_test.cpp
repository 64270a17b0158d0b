#include "micro/transfer/transfers.hpp"

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

TEST(TransfersSample, IsTheMiddleOfItsCopiesAndOfOthersForTheCallerOfABriefOne) {
  double device = 0;
  double caller = 100;
  const auto both = [&] {
    ++device;
    return BothSides{.device = device, .caller = 10 * device};
  };
  const auto alone = [&] { return ++caller; };
  EXPECT_EQ(copy_times::numbers_of(3, /*brief=*/false, both, alone), (std::vector<double>{2, 20}));
  EXPECT_EQ(copy_times::numbers_of(3, /*brief=*/true, both, alone), (std::vector<double>{5, 102}));
}

TEST(TransfersQueue, HoldsTransfersThatDoNotNeedTheHost) {
  EXPECT_TRUE((Transfer{.memory = Memory::pinned}).can_be_queued());
  EXPECT_TRUE((Transfer{.memory = Memory::mapped, .direction = Direction::both}).can_be_queued());
  EXPECT_TRUE(is_held_back({.memory = Memory::pinned, .bytes = 4}));
  EXPECT_FALSE(is_held_back({.memory = Memory::pinned, .bytes = 1U << 28U}));
  EXPECT_FALSE((Transfer{.memory = Memory::pageable}).can_be_queued());
  EXPECT_FALSE((Transfer{.memory = Memory::pinned, .pieces = 16}).can_be_queued());
  EXPECT_FALSE((Transfer{.memory = Memory::pinned, .pieces = 16, .packed = true}).can_be_queued());
}

TEST(TransfersRows, AreTimesAndBytesOfBothDirectionsASecond) {
  for (const Direction direction : {Direction::to_device, Direction::to_host, Direction::both}) {
    const Experiment experiment = describe({.direction = direction, .bytes = 8});
    const double bytes = direction == Direction::both ? 16 : 8;
    const auto rows = rows_of(experiment, cuda_timers, {.numbers = {2, 4}});
    EXPECT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows.at("transfer_time by event").value, 2);
    EXPECT_EQ(rows.at("transfer_time by wall").value, 4);
    EXPECT_EQ(rows.at("transfer_time by wall").unit, "s");
    EXPECT_EQ(rows.at("bandwidth by event").value, bytes / 2);
    EXPECT_EQ(rows.at("bandwidth by wall").value, bytes / 4);
    EXPECT_EQ(rows.at("bandwidth by wall").unit, "B/s");
  }
}

TEST(TransfersGates, CompareTheTimersOnlyOfLongCopies) {
  const Experiment experiment = describe({.bytes = 8});
  EXPECT_EQ(verdict_of("timer", experiment, {{.numbers = {3e-3, 3.01e-3}}}), Verdict::passed);
  EXPECT_EQ(verdict_of("timer", experiment, {{.numbers = {3e-3, 4e-3}}}), Verdict::failed);
  EXPECT_THROW((void)verdict_of("timer", experiment, {{.numbers = {1e-3, 2e-3}}}),
               std::out_of_range);
  EXPECT_EQ(verdict_of("repeat", experiment, {{.numbers = {1, 1}}}), Verdict::unverified);
}

}  // namespace
}  // namespace strata::transfers
