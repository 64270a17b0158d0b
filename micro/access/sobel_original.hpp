// Sobel as originally in the paper: one thread per pixel, which reads its eight neighbours byte by
// byte. Blocks of 16 × 16 are our choice; the paper does not give the size.
#pragma once

#include "micro/pattern/image.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <cstdint>

namespace strata::sobel {

struct Original {
  static constexpr Tiling tiling{.block_x = 16, .block_y = 16};

  template <class Memory>
  STRATA_HD static void body(Memory& memory, const Image& image, std::uint32_t x, std::uint32_t y) {
    if (x >= image.width || y >= image.height) return;
    const std::uint64_t at = image.at(x, y);
    std::uint32_t edge = 0;
    if (inside(image, x, y)) {
      std::uint32_t p[8];
      const std::uint64_t above = at - image.width;
      const std::uint64_t below = at + image.width;
      memory.template load<1>(0, p + 0, above - 1);
      memory.template load<1>(1, p + 1, above);
      memory.template load<1>(2, p + 2, above + 1);
      memory.template load<1>(3, p + 3, at - 1);
      memory.template load<1>(4, p + 4, at + 1);
      memory.template load<1>(5, p + 5, below - 1);
      memory.template load<1>(6, p + 6, below);
      memory.template load<1>(7, p + 7, below + 1);
      const auto of = [&](unsigned i) { return static_cast<int>(p[i]); };
      edge = edge_of(of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7));
    }
    memory.template store<1>(0, at, &edge);
  }
};

}  // namespace strata::sobel
