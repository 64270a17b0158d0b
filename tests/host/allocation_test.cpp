#include "micro/transfer/allocation.cu"

#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace strata::allocation {
namespace {

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

}  // namespace
}  // namespace strata::allocation
