// A rotation as one would write it today: each access of a warp takes a tile of 8 × 4 pixels, which
// lies in few lines however it is turned, and a thread has four of them on their way at once. Wider
// accesses on the straight side would stretch the tiles, and the askew side asks for more lines.
#pragma once

#include "micro/access/rotation.hpp"

namespace strata::rotation {

template <Way way>
struct Best {
  static constexpr std::uint32_t tile = 8;
  static constexpr std::uint32_t tiles = 4;  ///< of a thread, side by side
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
