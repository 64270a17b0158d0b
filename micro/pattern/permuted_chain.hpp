// Positions of the words of a chain along a permuted cycle, one word per slot, and where chases
// along it begin and end, launch after launch.
#pragma once

#include "micro/pattern/permuted_cycle.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace strata {

/// Plain data and constexpr, like PermutedCycle. Addresses are numbers: of bytes in memory, or in
/// the address space through which the words are loaded.
struct PermutedChain {
  PermutedCycle cycle;
  std::uint64_t base = 0;    ///< address of slot 0
  std::uint64_t stride = 0;  ///< bytes from slot to slot
  /// Adjacent lines of a slot over which words are spread, a power of two: words at the start of
  /// every page would all fall into a few sets of a cache.
  std::uint64_t lines = 1;
  static constexpr std::uint64_t line_bytes = 128;

  [[nodiscard]] constexpr std::uint64_t address_of(std::uint64_t slot) const {
    // Fibonacci hashing (Knuth, volume 3): the high half of the product depends on every bit.
    const std::uint64_t line = ((slot * 0x9E3779B97F4A7C15U) >> 32U) & (lines - 1);
    return base + slot * stride + line * line_bytes;
  }
  /// Of the word that is loaded at step `step` of the chase.
  [[nodiscard]] constexpr std::uint64_t address_at(std::uint64_t step) const {
    return address_of(cycle.slot_at(step));
  }
};

/// `walkers` simultaneous chases over the first `links` links of a cycle of `slots` slots, each
/// over a separate piece. A chase begins where the last one of its walker ended, as far as the
/// links go, so that samples visit different slots.
class CycleWalks {
 public:
  CycleWalks(std::uint64_t slots, std::uint64_t links, std::uint64_t walkers)
      : slots_{slots}, links_{std::min(links, slots)}, walkers_{walkers} {}

  /// Steps from where one walker begins to where the next one does.
  [[nodiscard]] std::uint64_t gap() const { return links_ / walkers_; }
  [[nodiscard]] std::uint64_t slots() const { return slots_; }
  /// Maximum loads of a chase: no limit if the whole cycle is written.
  [[nodiscard]] std::uint64_t most_loads() const {
    return links_ == slots_ ? ~std::uint64_t{0} : gap();
  }

  /// The step at which walker 0 begins a walk of `loads` loads. Throws std::length_error for more
  /// than most_loads().
  std::uint64_t begin(std::uint64_t loads) {
    if (loads > most_loads()) throw std::length_error{"a walk longer than its piece of the cycle"};
    const bool whole = links_ == slots_;
    const std::uint64_t first = whole || position_ + loads <= gap() ? position_ : 0;
    position_ = whole ? (first + loads) % slots_ : first + loads;
    return first;
  }

  /// The step at which `walker` ends a walk of `loads` loads that walker 0 begins at `first`.
  [[nodiscard]] std::uint64_t end(std::uint64_t first, std::uint64_t walker,
                                  std::uint64_t loads) const {
    return (first + walker * gap() + loads) % slots_;
  }

 private:
  std::uint64_t slots_;
  std::uint64_t links_;
  std::uint64_t walkers_;
  std::uint64_t position_ = 0;
};

}  // namespace strata
