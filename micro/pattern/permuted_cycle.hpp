// A random cycle through all slots, in closed form: a GPU writes a chain of a billion slots at
// once, and a check knows where a chase ends without following it.
//
// The permutation is a keyed Feistel network on the next power of four (Luby and Rackoff 1988),
// with cycle walking (Black and Rogaway 2002): a value that is not a slot is permuted again until
// it is one, at most four times on average. It is a bijection of the slots for any number of them.
#pragma once

#include <cstdint>

namespace strata {

/// slot_at(0), slot_at(1), … is a random Hamiltonian cycle over `slots` slots. Plain data and
/// constexpr: a kernel takes it by value and calls it too.
class PermutedCycle {
 public:
  /// 1 to 2^62 slots.
  constexpr PermutedCycle(std::uint64_t slots, std::uint64_t seed)
      : slots_{slots}, key_{static_cast<std::uint32_t>(seed ^ (seed >> 32U))} {
    while ((std::uint64_t{1} << (2 * half_bits_)) < slots_)
      ++half_bits_;
  }

  [[nodiscard]] constexpr std::uint64_t slots() const { return slots_; }

  /// The slot visited at step `step`; after slots() steps the cycle returns to slot_at(0).
  [[nodiscard]] constexpr std::uint64_t slot_at(std::uint64_t step) const {
    std::uint64_t value = step < slots_ ? step : step % slots_;
    // Terminates: repeating a bijection of the larger set returns to `value` at the latest.
    for (;;) {
      value = permuted(value);
      if (value < slots_) return value;
    }
  }

 private:
  /// Few bits need more rounds: halves of a bit or two have few functions to choose from.
  static constexpr std::uint32_t rounds = 6;

  /// The finaliser of MurmurHash3 (Appleby 2011): every input bit changes half of the output bits.
  static constexpr std::uint32_t mixed(std::uint32_t x) {
    x ^= x >> 16U;
    x *= 0x85EBCA6BU;
    x ^= x >> 13U;
    x *= 0xC2B2AE35U;
    return x ^ (x >> 16U);
  }

  [[nodiscard]] constexpr std::uint64_t permuted(std::uint64_t value) const {
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << half_bits_) - 1);
    auto left = static_cast<std::uint32_t>(value >> half_bits_);
    auto right = static_cast<std::uint32_t>(value) & mask;
    for (std::uint32_t r = 0; r < rounds; ++r) {
      const std::uint32_t was_right = right;
      right = left ^ (mixed(right + (r + 1) * 0x9E3779B9U + key_) & mask);
      left = was_right;
    }
    return (std::uint64_t{left} << half_bits_) | right;
  }

  std::uint64_t slots_;
  std::uint32_t key_;
  std::uint32_t half_bits_ = 0;  // of a half of a value
};

}  // namespace strata
