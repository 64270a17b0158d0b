// What kernels load that `strata access optimize` makes of the originals, four threads in one: as
// bodies, for models of their launches. The kernels themselves are in mended_originals.mended.ptx.
//
// Accesses of four threads are one where all of them take the same way. Where they part, each takes
// its own, one after the other, up to where all meet again.
#pragma once

#include "micro/access/rotation.hpp"
#include "micro/pattern/image.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <cstdint>

namespace strata {

namespace sobel {

struct Mended {
  static constexpr Tiling tiling{.block_x = 16, .block_y = 16, .columns = 4};

  template <class Memory>
  static void body(Memory& memory, const Image& image, std::uint32_t column, std::uint32_t y) {
    const std::uint32_t x = 4 * column;
    if (x >= image.width || y >= image.height) return;
    const std::uint64_t at = image.at(x, y);
    const bool is_first = !inside(image, x, y);
    const bool is_last = !inside(image, x + 3, y);
    std::uint32_t edges = 0;
    std::uint32_t p[8] = {};
    const auto put = [&](unsigned i) {
      const auto of = [&](unsigned n) { return static_cast<int>(p[n]); };
      edges |= edge_of(of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)) << (8 * i);
    };
    if (!is_first && !is_last) {
      std::uint32_t rows[3][3] = {};
      for (unsigned r = 0; r < 3; ++r) {
        const std::uint64_t row = at + std::uint64_t{r} * image.width - image.width;
        memory.template load<1>(3 * r, rows[r], row - 1);
        memory.template load<4>(3 * r + 1, rows[r] + 1, row);
        memory.template load<1>(3 * r + 2, rows[r] + 2, row + 4);
      }
      for (unsigned i = 0; i < 4; ++i) {
        const auto pixel = [&](unsigned r, unsigned n) {
          const std::uint64_t bytes =
              rows[r][0] | std::uint64_t{rows[r][1]} << 8U | std::uint64_t{rows[r][2]} << 40U;
          return static_cast<std::uint32_t>(bytes >> (8 * (i + n)) & 0xFFU);
        };
        const std::uint32_t around[]{pixel(0, 0), pixel(0, 1), pixel(0, 2), pixel(1, 0),
                                     pixel(1, 2), pixel(2, 0), pixel(2, 1), pixel(2, 2)};
        std::copy_n(around, 8, p);
        put(i);
      }
    } else {
      for (unsigned i = 0; i < 4; ++i) {
        if (!inside(image, x + i, y)) continue;
        unsigned n = 0;
        for (unsigned place = 0; place < 9; ++place) {
          if (place == 4) continue;
          memory.template load<1>(
              16 + 8 * i + n, p + n,
              at + i + place / 3 * std::uint64_t{image.width} + place % 3 - image.width - 1);
          ++n;
        }
        put(i);
      }
    }
    memory.template store<4>(0, at, &edges);
  }
};

}  // namespace sobel

namespace rotation {

template <Way way>
struct Mended {
  static constexpr Tiling tiling{.block_x = 16, .block_y = 16, .columns = 4};

  template <class Memory>
  static void body(Memory& memory, const Turn& turn, std::uint32_t column, std::uint32_t y) {
    const Image& image = turn.image;
    const std::uint32_t x = 4 * column;
    if (x >= image.width || y >= image.height) return;
    Spot spots[4];
    unsigned known = 0;
    for (unsigned i = 0; i < 4; ++i) {
      spots[i] = turn.rotation.of(x + i, y);
      known += within(image, spots[i]) ? 1 : 0;
    }
    const unsigned parted = known == 4 ? 0 : 4;  // accesses of threads that part are others
    std::uint32_t word = 0;
    if (way == Way::forward && known == 4) memory.template load<4>(8, &word, image.at(x, y));
    for (unsigned i = 0; i < 4; ++i) {
      if (!within(image, spots[i])) continue;
      const std::uint64_t there = image.at(spots[i].x, spots[i].y);
      std::uint32_t pixel = word >> (8 * i);
      if constexpr (way == Way::forward) {
        if (known < 4) memory.template load<1>(parted + i, &pixel, image.at(x + i, y));
        memory.template store<1>(parted + i, there, &pixel);
      } else {
        memory.template load<1>(parted + i, &pixel, there);
        word |= pixel << (8 * i);
      }
    }
    if constexpr (way == Way::backward) memory.template store<4>(0, image.at(x, y), &word);
  }
};

}  // namespace rotation
}  // namespace strata
