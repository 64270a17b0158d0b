// A rotation as originally in the paper: one thread per pixel. Blocks of 16 × 16 are our choice.
#pragma once

#include "micro/access/rotation.hpp"

namespace strata::rotation {

template <Way way>
struct Original {
  static constexpr Tiling tiling{.block_x = 16, .block_y = 16};

  template <class Memory>
  STRATA_HD static void body(Memory& memory, const Turn& turn, std::uint32_t x, std::uint32_t y) {
    if (x >= turn.image.width || y >= turn.image.height) return;
    turn_pixels<way, 1>(memory, turn, x, y, 1);
  }
};

}  // namespace strata::rotation
