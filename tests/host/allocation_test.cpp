#include "micro/transfer/allocation.hpp"

#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace strata::allocation {
namespace {

TEST(AllocationSlope, LeavesOutWhatEverySeriesHas) {
  const auto series = [](double pieces) { return 3e-6 + 2e-6 * pieces; };
  EXPECT_NEAR(seconds_of_piece(series(few), series(many)), 2e-6, 1e-15);
}

TEST(AllocationPieces, AreApartAndAligned) {
  const auto wrong = [](const std::vector<std::uintptr_t>& pieces, Memory memory = Memory::device) {
    return misplaced(pieces, 512, alignment(memory));
  };
  EXPECT_EQ(wrong({0x2000, 0x1000, 0x1200}), 0U);
  EXPECT_EQ(wrong({0x1000, 0x1100}), 1U) << "they overlap";
  EXPECT_EQ(wrong({0x1000, 0x1000}), 1U);
  EXPECT_EQ(wrong({0x1010}), 1U);
  EXPECT_EQ(wrong({0x1010}, Memory::pinned), 0U);
  EXPECT_EQ(wrong({0}, Memory::pinned), 1U);
}

TEST(AllocationRows, AreTheCallersAlone) {
  const auto rows = rows_of(describe(), cuda_timers, {.numbers = {4e-6}});
  EXPECT_EQ(rows, (RowsSeen{{"allocation_seconds by wall_slope", {4e-6, "s", Provenance::timed}}}));
  EXPECT_EQ(verdict_of("timer", describe(), {{.numbers = {4e-6}}}), Verdict::not_applicable);
  EXPECT_EQ(verdict_of("repeat", describe(), {{.numbers = {4e-6}}}), Verdict::unverified);
}

}  // namespace
}  // namespace strata::allocation
