// The end of a long chain of multiply-adds, without following it. Host only.
#pragma once

#include <cstdint>

namespace strata {

/// x·factor + addend modulo 2^32, `count` times.
[[nodiscard]] constexpr std::uint32_t iterated(std::uint32_t x, std::uint32_t factor,
                                               std::uint32_t addend, std::uint64_t count) {
  for (; count > 0; count /= 2) {  // the map is squared as often as `count` has digits
    if (count % 2 == 1) x = x * factor + addend;
    addend += factor * addend;
    factor *= factor;
  }
  return x;
}

}  // namespace strata
