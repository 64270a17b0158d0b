// A rotation as made by the paper's tool: four threads in one. Forward it reads four pixels as one
// word; backward it writes four.
#pragma once

#include "micro/access/rotation.hpp"

namespace strata::rotation {

template <Way way>
struct SeedTool {
  static constexpr Tiling tiling{.block_x = 16, .block_y = 16, .columns = 4};

  template <class Memory>
  STRATA_HD static void body(Memory& memory, const Turn& turn, std::uint32_t column,
                             std::uint32_t y) {
    const Image& image = turn.image;
    const std::uint32_t x = 4 * column;
    if (x >= image.width || y >= image.height) return;
    std::uint32_t word = 0;
    if constexpr (way == Way::forward) memory.template load<4>(0, &word, image.at(x, y));
    STRATA_UNROLLED
    for (unsigned i = 0; i < 4; ++i) {
      const Spot spot = turn.rotation.of(x + i, y);
      if (!within(image, spot)) continue;
      const std::uint64_t at = image.at(spot.x, spot.y);
      if constexpr (way == Way::forward) {
        const std::uint32_t pixel = word >> (8 * i);
        memory.template store<1>(i, at, &pixel);
      } else {
        std::uint32_t pixel = 0;
        memory.template load<1>(i, &pixel, at);
        word |= pixel << (8 * i);
      }
    }
    if constexpr (way == Way::backward) memory.template store<4>(0, image.at(x, y), &word);
  }
};

}  // namespace strata::rotation
