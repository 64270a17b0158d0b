// The cosine transform by direct sums as written today: a thread has four coefficients of a column,
// so that a pixel times its horizontal cosine serves four terms. The image is read 16 bytes per
// load, 8 rows at a time, and converted once per block; horizontal cosines are in shared memory.
#pragma once

#include "harness/cuda/access.cuh"
#include "micro/access/dct.hpp"

namespace strata::dct {

inline constexpr unsigned best_threads = 128;  // 32 columns, 4 groups of rows
inline constexpr unsigned best_columns = 32;
inline constexpr unsigned best_rows = 16;  // of a block; 4 of a thread
inline constexpr unsigned rows_at_once = 8;
/// Four more numbers per column: 16-byte loads of 8 lanes then use all banks once.
inline constexpr unsigned best_pitch = side + 4;

/// Accurate to two units in the last place.
__device__ __forceinline__ float exact_cosine(std::uint32_t k) {
  return cospif(static_cast<float>(from_minus_pi(k)) * (1.0F / (period / 2)));
}

struct BestShared {
  float across[best_columns * best_pitch];
  float pixels[rows_at_once * side];
};

__device__ __forceinline__ void four_at_once(const char* image, float* coefficients,
                                             BestShared& shared) {
  const std::uint32_t column = threadIdx.x % best_columns;
  const std::uint32_t u = blockIdx.x * best_columns + column;
  const std::uint32_t v = blockIdx.y * best_rows + threadIdx.x / best_columns * 4;
  for (std::uint32_t x = threadIdx.x / best_columns; x < side; x += best_threads / best_columns)
    shared.across[column * best_pitch + x] = exact_cosine((2 * x + 1) * u);
  float sums[4] = {};
#pragma unroll 1
  for (std::uint32_t first = 0; first < side; first += rows_at_once) {
    __syncthreads();
    std::uint32_t words[4];
    load<Access::global, 16>(words, image + first * side + 16 * threadIdx.x);
#pragma unroll
    for (unsigned i = 0; i < 16; ++i) {
      shared.pixels[16 * threadIdx.x + i] =
          static_cast<float>(words[i / 4] >> (8 * (i % 4)) & 0xFFU);
    }
    __syncthreads();
#pragma unroll 1
    for (std::uint32_t y = 0; y < rows_at_once; ++y) {
      float down[4];
      float rows[4] = {};
#pragma unroll
      for (unsigned j = 0; j < 4; ++j)
        down[j] = exact_cosine((2 * (first + y) + 1) * (v + j));
      const auto* const pixels = reinterpret_cast<const float4*>(shared.pixels + y * side);
      const auto* const across =
          reinterpret_cast<const float4*>(shared.across + column * best_pitch);
#pragma unroll 4
      for (unsigned x = 0; x < side / 4; ++x) {
        const float4 p = pixels[x];
        const float4 c = across[x];
        const float terms_across[4] = {p.x * c.x, p.y * c.y, p.z * c.z, p.w * c.w};
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
          for (unsigned j = 0; j < 4; ++j)
            rows[j] += terms_across[i] * down[j];
        }
      }
#pragma unroll
      for (unsigned j = 0; j < 4; ++j)
        sums[j] += rows[j];
    }
  }
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) {
    const std::uint32_t bits = __float_as_uint(sums[j]);
    store<Access::global, 4>(coefficients + (v + j) * side + u, &bits);
  }
}

}  // namespace strata::dct
