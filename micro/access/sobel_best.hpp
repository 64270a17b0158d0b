// Sobel as written today: a thread takes 16 columns and 8 rows. It reads each row once, 16 bytes at
// a time and ahead of its use, keeps three rows in registers, and computes with pairs of 16-bit
// floating-point numbers, which represent every value exactly: none exceeds 2048.
#pragma once

#include "micro/pattern/image.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <cstdint>

#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

namespace strata::sobel {

#if defined(__CUDA_ARCH__)
using Pair = __half2;
/// Bytes 2 × half and 2 × half + 1 of a word. A byte behind 0x64 is 1024 + the byte.
__device__ __forceinline__ Pair pair_of(std::uint32_t word, unsigned half) {
  const std::uint32_t bits = __byte_perm(word, 0x64646464U, half == 0 ? 0x4140U : 0x4342U);
  return __hsub2(*reinterpret_cast<const Pair*>(&bits), __float2half2_rn(1024.0F));
}
__device__ __forceinline__ Pair plus(Pair a, Pair b) {
  return __hadd2(a, b);
}
__device__ __forceinline__ Pair minus(Pair a, Pair b) {
  return __hsub2(a, b);
}
/// 2 × a + b
__device__ __forceinline__ Pair twice_plus(Pair a, Pair b) {
  return __hfma2(a, __float2half2_rn(2.0F), b);
}
/// The second number of a and the first of b.
__device__ __forceinline__ Pair between(Pair a, Pair b) {
  return __halves2half2(__high2half(a), __low2half(b));
}
/// Of two pairs |gx| + |gy|, at most 255, as bytes.
__device__ __forceinline__ std::uint32_t bytes_of(const Pair* gx, const Pair* gy) {
  std::uint32_t bits[2];
  for (unsigned i = 0; i < 2; ++i) {
    const Pair sum = __hadd2(__habs2(gx[i]), __habs2(gy[i]));
    const Pair edge = __hadd2(__hmin2(sum, __float2half2_rn(255.0F)), __float2half2_rn(1024.0F));
    bits[i] = *reinterpret_cast<const std::uint32_t*>(&edge);
  }
  return __byte_perm(bits[0], bits[1], 0x6420U);
}
#else
struct Pair {
  int first = 0;
  int second = 0;
};
constexpr Pair pair_of(std::uint32_t word, unsigned half) {
  const std::uint32_t bits = word >> (16 * half);
  return {static_cast<int>(bits & 0xFFU), static_cast<int>(bits >> 8U & 0xFFU)};
}
constexpr Pair plus(const Pair& a, const Pair& b) {
  return {a.first + b.first, a.second + b.second};
}
constexpr Pair minus(const Pair& a, const Pair& b) {
  return {a.first - b.first, a.second - b.second};
}
constexpr Pair twice_plus(const Pair& a, const Pair& b) {
  return {2 * a.first + b.first, 2 * a.second + b.second};
}
constexpr Pair between(const Pair& a, const Pair& b) {
  return {a.second, b.first};
}
constexpr std::uint32_t bytes_of(const Pair* gx, const Pair* gy) {
  std::uint32_t word = 0;
  const auto edge = [](int x, int y) { return std::min((x < 0 ? -x : x) + (y < 0 ? -y : y), 255); };
  for (unsigned i = 0; i < 2; ++i) {
    word |= static_cast<std::uint32_t>(edge(gx[i].first, gy[i].first)) << (16 * i);
    word |= static_cast<std::uint32_t>(edge(gx[i].second, gy[i].second)) << (16 * i + 8);
  }
  return word;
}
#endif

struct Best {
  static constexpr std::uint32_t columns = 16;
  static constexpr std::uint32_t rows = 8;
  static constexpr unsigned ahead = 4;  ///< rows in flight beside the one that is used
  static constexpr Tiling tiling{.block_x = 32, .block_y = 4, .columns = columns, .rows = rows};

  /// Sixteen bytes of a row, and one on each side.
  struct Raw {
    std::uint32_t words[4];
    std::uint32_t left;
    std::uint32_t right;
  };
  /// The same in pairs: the last of `pairs[0]` and the first of `pairs[9]` are the bytes on the
  /// sides.
  struct Line {
    Pair pairs[10];
  };

  /// Outside the image, the nearest byte replaces a missing one.
  template <class Memory>
  STRATA_HD static void fetch(Memory& memory, const Image& image, std::uint32_t x, std::uint32_t y,
                              unsigned slot, Raw& raw) {
    const std::uint64_t row = image.at(0, y < image.height ? y : image.height - 1);
    memory.template load<16>(3 * slot, raw.words, row + x);
    memory.template load<1>(3 * slot + 1, &raw.left, row + (x > 0 ? x - 1 : 0));
    memory.template load<1>(3 * slot + 2, &raw.right,
                            row + (x + columns < image.width ? x + columns : x));
  }

  STRATA_HD static void widen(const Raw& raw, Line& line) {
    line.pairs[0] = pair_of(raw.left << 8U, 0);
    STRATA_UNROLLED
    for (unsigned i = 0; i < 8; ++i)
      line.pairs[i + 1] = pair_of(raw.words[i / 2], i % 2);
    line.pairs[9] = pair_of(raw.right, 0);
  }

  STRATA_HD static void edges(const Line& above, const Line& here, const Line& below,
                              std::uint32_t* words) {
    Pair sums[10];   // down each column: 1, 2, 1
    Pair steps[10];  // below less above
    STRATA_UNROLLED
    for (unsigned i = 0; i < 10; ++i) {
      sums[i] = twice_plus(here.pairs[i], plus(above.pairs[i], below.pairs[i]));
      steps[i] = minus(below.pairs[i], above.pairs[i]);
    }
    STRATA_UNROLLED
    for (unsigned w = 0; w < 4; ++w) {
      Pair gx[2];
      Pair gy[2];
      STRATA_UNROLLED
      for (unsigned k = 0; k < 2; ++k) {
        const unsigned i = 2 * w + k + 1;
        gx[k] = minus(between(sums[i], sums[i + 1]), between(sums[i - 1], sums[i]));
        gy[k] = twice_plus(steps[i],
                           plus(between(steps[i], steps[i + 1]), between(steps[i - 1], steps[i])));
      }
      words[w] = bytes_of(gx, gy);
    }
  }

  template <class Memory>
  STRATA_HD static void body(Memory& memory, const Image& image, std::uint32_t column,
                             std::uint32_t strip) {
    const std::uint32_t x = columns * column;
    const std::uint32_t top = rows * strip;
    if (x >= image.width || top >= image.height) return;
    Raw raw[rows + 2];
    Line lines[3];
    STRATA_UNROLLED
    for (unsigned r = 0; r < ahead; ++r)
      fetch(memory, image, x, top + r > 0 ? top + r - 1 : 0, r, raw[r]);
    widen(raw[0], lines[0]);
    widen(raw[1], lines[1]);
    STRATA_UNROLLED
    for (unsigned r = 0; r < rows; ++r) {
      if (r + ahead < rows + 2) {
        fetch(memory, image, x, top + r + ahead - 1, r + ahead, raw[r + ahead]);
      }
      widen(raw[r + 2], lines[(r + 2) % 3]);
      const std::uint32_t y = top + r;
      std::uint32_t words[4];
      edges(lines[r % 3], lines[(r + 1) % 3], lines[(r + 2) % 3], words);
      const std::uint32_t kept = y > 0 && y + 1 < image.height ? ~0U : 0U;
      STRATA_UNROLLED
      // NOLINTNEXTLINE(modernize-loop-convert): shared with device code
      for (unsigned w = 0; w < 4; ++w)
        words[w] &= kept;
      if (x == 0) words[0] &= 0xFFFFFF00U;
      if (x + columns == image.width) words[3] &= 0x00FFFFFFU;
      memory.template store<16>(r, image.at(x, y), words);
    }
  }
};

}  // namespace strata::sobel
