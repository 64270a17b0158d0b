#pragma once

#include <cstdint>

namespace strata {

/// A small counter-based generator (SplitMix64, Steele et al. 2014): the same numbers from the same
/// seed with every standard library, which std::uniform_int_distribution does not guarantee.
class SplitMix {
 public:
  constexpr explicit SplitMix(std::uint64_t seed) : state_{seed} {}
  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  /// A number in [0, bound). The bias, below 2^-32 for 32-bit bounds, does not matter to a pattern.
  constexpr std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32U) * bound) >> 32U);
  }
  /// A number in [0, 1), of 24 bits: exact as a float.
  constexpr double fraction() { return static_cast<double>(next() >> 40U) * 0x1p-24; }

 private:
  std::uint64_t state_;
};

}  // namespace strata
