// How often shared memory must be asked for one access of a warp: the bank model of compute
// capability 5.x and later.
#pragma once

#include "harness/model/coalescing.hpp"

#include <cstdint>

namespace strata {

/// What shared memory hands over in one wavefront: a word of 4 bytes from each of 32 banks.
inline constexpr std::uint64_t wavefront_bytes = 128;

/// What one access asks for.
struct BankTraffic {
  std::uint64_t wavefronts = 0;  ///< passes through the banks: the degrees of all groups, summed
  std::uint64_t groups = 0;  ///< of lanes that are served together, and have lanes that take part
  std::uint64_t words = 0;   ///< distinct 4-byte words of each group, summed

  bool operator==(const BankTraffic&) const = default;
};

/// What a load or a store of a warp from or to shared memory asks for. An access without lanes asks
/// nothing. Throws std::invalid_argument for another width than 4, 8 or 16, or an address that is
/// no multiple of it.
[[nodiscard]] BankTraffic bank_traffic(const WarpAccess& access);

}  // namespace strata
