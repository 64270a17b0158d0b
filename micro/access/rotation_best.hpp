// A rotation as written today: each access of a warp takes a tile of 8 × 4 pixels, which is in
// few lines at any angle, and a thread has four of them in flight. Wider accesses on the straight
// side would stretch the tiles, and the rotated side would touch more lines.
#pragma once

#include "micro/access/rotation.hpp"

namespace strata::rotation {

template <Way way>
struct Best {
  static constexpr std::uint32_t tile = 8;
  static constexpr std::uint32_t tiles = 4;  ///< per thread, adjacent
  static constexpr Tiling tiling{.block_x = tile, .block_y = 32, .columns = tiles};

  template <class Memory>
  STRATA_HD static void body(Memory& memory, const Turn& turn, std::uint32_t column,
                             std::uint32_t y) {
    const std::uint32_t x = column / tile * (tile * tiles) + column % tile;
    if (x >= turn.image.width || y >= turn.image.height) return;
    turn_pixels<way, tiles>(memory, turn, x, y, tile);
  }
};

}  // namespace strata::rotation
