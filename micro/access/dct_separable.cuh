// The cosine transform in two passes, rows and then columns: two matrix products, in tiles of 64 ×
// 64 that a block computes from strips of 16, of which each thread has 4 × 4 numbers.
#pragma once

#include "harness/cuda/access.cuh"
#include "micro/access/dct.hpp"

namespace strata::dct {

inline constexpr unsigned pass_threads = 256;
inline constexpr unsigned pass_tile = 64;
inline constexpr unsigned pass_strip = 16;

struct PassShared {
  float left[pass_strip][pass_tile];  ///< by position along the sum, then by row of the tile
  float right[pass_strip][pass_tile];
};

/// A strip of numbers, 16 rows of a matrix: 16 bytes a thread.
__device__ __forceinline__ void take_numbers(const float* matrix, std::uint32_t first,
                                             std::uint32_t column,
                                             float (&strip)[pass_strip][pass_tile]) {
  const std::uint32_t row = threadIdx.x / 16;
  const std::uint32_t at = 4 * (threadIdx.x % 16);
  std::uint32_t words[4];
  load<Access::global, 16>(words, matrix + (first + row) * side + column + at);
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    strip[row][at + i] = __uint_as_float(words[i]);
}

/// The same of an image, 16 of its columns: 4 bytes a thread.
__device__ __forceinline__ void take_bytes(const char* image, std::uint32_t first,
                                           std::uint32_t row,
                                           float (&strip)[pass_strip][pass_tile]) {
  const std::uint32_t mine = threadIdx.x / 4;
  const std::uint32_t at = 4 * (threadIdx.x % 4);
  const auto word = load_word<Access::global>(image + (row + mine) * side + first + at);
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    strip[at + i][mine] = static_cast<float>(word >> (8 * i) & 0xFFU);
}

/// The tile of this block: `take(first, shared)` loads both strips of a step.
template <class Take>
__device__ __forceinline__ void product(float* to, PassShared& shared, const Take& take) {
  const std::uint32_t across = 4 * (threadIdx.x % 16);
  const std::uint32_t down = 4 * (threadIdx.x / 16);
  float sums[4][4] = {};
#pragma unroll 1
  for (std::uint32_t first = 0; first < side; first += pass_strip) {
    __syncthreads();
    take(first);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < pass_strip; ++k) {
      const float4 a = *reinterpret_cast<const float4*>(&shared.left[k][down]);
      const float4 b = *reinterpret_cast<const float4*>(&shared.right[k][across]);
      const float as[4] = {a.x, a.y, a.z, a.w};
      const float bs[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j)
          sums[i][j] += as[i] * bs[j];
      }
    }
  }
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    std::uint32_t bits[4];
#pragma unroll
    for (unsigned j = 0; j < 4; ++j)
      bits[j] = __float_as_uint(sums[i][j]);
    store<Access::global, 16>(
        to + (blockIdx.y * pass_tile + down + i) * side + blockIdx.x * pass_tile + across, bits);
  }
}

}  // namespace strata::dct
