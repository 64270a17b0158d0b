// Where the words of a chain lie that follows a permuted cycle: one word in each slot, and slots at
// equal distances.
#pragma once

#include "micro/pattern/permuted_cycle.hpp"

#include <cstdint>

namespace strata {

/// Plain data and constexpr, as PermutedCycle is. Addresses are numbers: of bytes in memory, or in
/// whatever window the words are loaded through.
struct PermutedChain {
  PermutedCycle cycle;
  std::uint64_t base = 0;    ///< address of slot 0
  std::uint64_t stride = 0;  ///< bytes from slot to slot
  /// Over how many neighbouring lines of a slot its word may be moved, a power of two; 1: the word
  /// stands at the start. Words at the start of every page would all fall into a few sets of a
  /// cache.
  std::uint64_t lines = 1;
  static constexpr std::uint64_t line_bytes = 128;

  [[nodiscard]] constexpr std::uint64_t address_of(std::uint64_t slot) const {
    // Fibonacci hashing (Knuth, volume 3): the high half of the product depends on every bit.
    const std::uint64_t line = ((slot * 0x9E3779B97F4A7C15U) >> 32U) & (lines - 1);
    return base + slot * stride + line * line_bytes;
  }
  /// Of the word that is loaded at step `step` of the walk.
  [[nodiscard]] constexpr std::uint64_t address_at(std::uint64_t step) const {
    return address_of(cycle.slot_at(step));
  }
};

}  // namespace strata
