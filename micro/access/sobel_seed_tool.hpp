// Sobel as made by the paper's tool: four threads in one. Of each of three rows it reads the four
// aligned bytes as one word and the bytes beside them one by one, and it writes one word.
#pragma once

#include "micro/pattern/image.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <cstdint>

namespace strata::sobel {

struct SeedTool {
  static constexpr Tiling tiling{.block_x = 16, .block_y = 16, .columns = 4};

  template <class Memory>
  STRATA_HD static void body(Memory& memory, const Image& image, std::uint32_t column,
                             std::uint32_t y) {
    const std::uint32_t x = 4 * column;
    if (x >= image.width || y >= image.height) return;
    const std::uint64_t at = image.at(x, y);
    std::uint32_t edges = 0;
    if (y > 0 && y + 1 < image.height) {
      int p[3][6] = {};
      STRATA_UNROLLED
      for (unsigned r = 0; r < 3; ++r) {
        const std::uint64_t row = at + std::uint64_t{r} * image.width - image.width;
        std::uint32_t word = 0;
        std::uint32_t left = 0;
        std::uint32_t right = 0;
        memory.template load<4>(3 * r, &word, row);
        if (x > 0) memory.template load<1>(3 * r + 1, &left, row - 1);
        if (x + 4 < image.width) memory.template load<1>(3 * r + 2, &right, row + 4);
        p[r][0] = static_cast<int>(left);
        STRATA_UNROLLED
        for (unsigned i = 0; i < 4; ++i)
          p[r][i + 1] = static_cast<int>(word >> (8 * i) & 0xFFU);
        p[r][5] = static_cast<int>(right);
      }
      STRATA_UNROLLED
      for (unsigned i = 0; i < 4; ++i) {
        if (!inside(image, x + i, y)) continue;
        edges |= edge_of(p[0][i], p[0][i + 1], p[0][i + 2], p[1][i], p[1][i + 2], p[2][i],
                         p[2][i + 1], p[2][i + 2])
                 << (8 * i);
      }
    }
    memory.template store<4>(0, at, &edges);
  }
};

}  // namespace strata::sobel
