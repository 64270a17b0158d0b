// Arrays in which every word follows from its index: a device fills and checks them alone, and the
// host knows them without a copy.
#pragma once

#include "harness/model/layout.hpp"

#include <cstdint>

namespace strata {

/// Word `index` of the array: all 32 bits depend on all bits of the index. The constants are those
/// of the finaliser of MurmurHash3 (Appleby, public domain), after an odd multiplication that keeps
/// index 0 from giving 0.
STRATA_HD constexpr std::uint32_t hashed_word(std::uint32_t index) {
  std::uint32_t h = (index + 1) * 0x9E3779B1U;
  h = (h ^ (h >> 16U)) * 0x85EBCA6BU;
  h = (h ^ (h >> 13U)) * 0xC2B2AE35U;
  return h ^ (h >> 16U);
}

/// The sum of the words of element `element` of `width` bytes; for elements narrower than a word,
/// the element itself (little-endian).
STRATA_HD constexpr std::uint32_t hashed_element(std::uint32_t element, std::uint32_t width) {
  if (width < 4) {
    const std::uint32_t word = hashed_word(element * width / 4);
    return (word >> (8 * (element * width % 4))) & (width == 1 ? 0xFFU : 0xFFFFU);
  }
  std::uint32_t sum = 0;
  for (std::uint32_t w = 0; w < width / 4; ++w)
    sum += hashed_word(element * (width / 4) + w);
  return sum;
}

/// Hashed words as an array: every `step`-th of them starting at `first`, masked with `mask`.
struct HashedWords {
  std::uint32_t step = 1;
  std::uint32_t first = 0;
  std::uint32_t mask = 0xFFFFFFFFU;

  [[nodiscard]] STRATA_HD constexpr std::uint32_t word(std::uint64_t i) const {
    return hashed_word(static_cast<std::uint32_t>(i) * step + first) & mask;
  }
};

/// Words on a line: word i is i × slope + start, modulo 2^32. Sums over ranges are known without a
/// loop, and the results of copies, triads and updates are lines again.
struct LinearWords {
  std::uint32_t slope = 0x9E3779B1U;
  std::uint32_t start = 0x7F4A7C15U;

  [[nodiscard]] STRATA_HD constexpr std::uint32_t word(std::uint64_t i) const {
    return static_cast<std::uint32_t>(i) * slope + start;
  }
  /// The line relative to word `first`.
  [[nodiscard]] constexpr LinearWords from(std::uint64_t first) const {
    return {slope, word(first)};
  }
  /// The sum of `count` words starting at `first`.
  [[nodiscard]] constexpr std::uint32_t sum(std::uint64_t first, std::uint64_t count) const {
    // One of two consecutive numbers is even, so the product is halved without a remainder.
    const std::uint64_t triangle =
        count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
    return slope * static_cast<std::uint32_t>(first * count + triangle) +
           static_cast<std::uint32_t>(count) * start;
  }
  bool operator==(const LinearWords&) const = default;
};

}  // namespace strata
