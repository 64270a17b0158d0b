// An array whose every word follows from its index: filled on the device, known on the host without
// a copy.
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

/// The sum of the words of element `element` of `width` bytes; of narrower elements than a word,
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

}  // namespace strata
