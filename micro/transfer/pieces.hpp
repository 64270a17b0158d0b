// Pieces of memory that an allocator returned. Host only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::allocation {

/// Pieces, each of so many bytes, that are nowhere, overlap another one or are not aligned.
[[nodiscard]] inline std::size_t misplaced(std::span<const std::uintptr_t> pieces,
                                           std::size_t bytes, std::uintptr_t alignment) {
  std::vector<std::uintptr_t> sorted(pieces.begin(), pieces.end());
  std::ranges::sort(sorted);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool apart = i + 1 == sorted.size() || sorted[i + 1] - sorted[i] >= bytes;
    if (!apart || sorted[i] == 0 || sorted[i] % alignment != 0) ++wrong;
  }
  return wrong;
}

}  // namespace strata::allocation
