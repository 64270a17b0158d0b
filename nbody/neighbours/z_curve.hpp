// Cells along a curve: a Z curve, which interleaves the bits of x, y and z, or a Hilbert curve,
// which never jumps. Adjacent cells are mostly near each other in memory along every axis, not only
// along x. Host only, except for the bits.
#pragma once

#include "nbody/neighbours/model/cells.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace strata::neighbours {

/// Spreads these ten bits over every third bit of the result.
[[nodiscard]] STRATA_BOTH constexpr std::uint32_t every_third(std::uint32_t bits) {
  bits = (bits | bits << 16U) & 0x030000FFU;
  bits = (bits | bits << 8U) & 0x0300F00FU;
  bits = (bits | bits << 4U) & 0x030C30C3U;
  return (bits | bits << 2U) & 0x09249249U;
}

/// Position on a Z curve.
[[nodiscard]] constexpr std::uint32_t z_code(const std::array<std::uint32_t, 3>& cell) {
  return every_third(cell[2]) << 2U | every_third(cell[1]) << 1U | every_third(cell[0]);
}

/// Position on a Hilbert curve through a cube of 2^bits per dimension, on which consecutive cells
/// share a side (Skilling, Programming the Hilbert curve, AIP 707, 2004).
[[nodiscard]] constexpr std::uint32_t hilbert_code(std::array<std::uint32_t, 3> cell,
                                                   unsigned bits) {
  for (std::uint32_t bit = 1U << (bits - 1); bit > 1; bit >>= 1U) {
    const std::uint32_t below = bit - 1;
    for (std::uint32_t& along : cell) {
      const std::uint32_t turned = (along & bit) != 0 ? 0 : (cell[0] ^ along) & below;
      if ((along & bit) != 0) cell[0] ^= below;
      cell[0] ^= turned;
      along ^= turned;
    }
  }
  cell[1] ^= cell[0];
  cell[2] ^= cell[1];
  std::uint32_t turned = 0;
  for (std::uint32_t bit = 1U << (bits - 1); bit > 1; bit >>= 1U) {
    if ((cell[2] & bit) != 0) turned ^= bit - 1;
  }
  return z_code({cell[2] ^ turned, cell[1] ^ turned, cell[0] ^ turned});
}

/// For each cell, in the order of Cells: the number of cells with a lower code_of(cell).
template <class CodeOf>
[[nodiscard]] std::vector<std::uint32_t> in_order_of_codes(const Cells& cells,
                                                           const CodeOf& code_of) {
  std::vector<std::uint32_t> codes;
  codes.reserve(cells.all());
  for (std::uint32_t z = 0; z < cells.count; ++z) {
    for (std::uint32_t y = 0; y < cells.count; ++y) {
      for (std::uint32_t x = 0; x < cells.count; ++x)
        codes.push_back(code_of(std::array{x, y, z}));
    }
  }
  std::vector<std::uint32_t> curve(codes.size());
  std::iota(curve.begin(), curve.end(), 0U);
  std::ranges::sort(curve, {}, [&](std::uint32_t cell) { return codes[cell]; });
  std::vector<std::uint32_t> before(curve.size());
  for (std::size_t at = 0; at < curve.size(); ++at)
    before[curve[at]] = static_cast<std::uint32_t>(at);
  return before;
}
[[nodiscard]] inline std::vector<std::uint32_t> along_z_curve(const Cells& cells) {
  return in_order_of_codes(cells, z_code);
}
[[nodiscard]] inline std::vector<std::uint32_t> along_hilbert_curve(const Cells& cells) {
  const auto bits = static_cast<unsigned>(std::bit_width(std::max(cells.count, 2U) - 1));
  return in_order_of_codes(
      cells, [bits](const std::array<std::uint32_t, 3>& cell) { return hilbert_code(cell, bits); });
}

}  // namespace strata::neighbours
