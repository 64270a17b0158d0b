// The cosine transform with one thread per coefficient, each a sum over all pixels: `width` bytes
// per load. 1 is the paper's original, 4 the result of its tool; its hand-written version takes 16,
// through the texture cache, here also through the read-only path. Blocks of 16 × 16 are our
// choice.
#pragma once

#include "harness/cuda/access.cuh"
#include "micro/access/dct.hpp"

#include <numbers>

namespace strata::dct {

inline constexpr unsigned direct_side = 16;

/// Expected: one MUFU.COS.
__device__ __forceinline__ float hardware_cosine(std::uint32_t k) {
  constexpr float step = std::numbers::pi_v<float> / (period / 2);
  return __cosf(static_cast<float>(from_minus_pi(k)) * step);
}

/// take(words, at) loads the `width` pixels from pixel `at`.
template <unsigned width, class Take>
__device__ __forceinline__ void sum_over_pixels(float* coefficients, const Take& take) {
  const std::uint32_t u = blockIdx.x * direct_side + threadIdx.x;
  const std::uint32_t v = blockIdx.y * direct_side + threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (std::uint32_t y = 0; y < side; ++y) {
    const float down = hardware_cosine((2 * y + 1) * v);
    float row = 0;
#pragma unroll 1
    for (std::uint32_t x = 0; x < side; x += width) {
      std::uint32_t words[words_of(width)];
      take(words, y * side + x);
#pragma unroll
      for (unsigned i = 0; i < width; ++i) {
        const std::uint32_t pixel = words[i / 4] >> (8 * (i % 4)) & 0xFFU;
        row += static_cast<float>(pixel) * hardware_cosine((2 * (x + i) + 1) * u) * down;
      }
    }
    sum += row;
  }
  const std::uint32_t bits = __float_as_uint(sum);
  store<Access::global, 4>(coefficients + v * side + u, &bits);
}

template <unsigned width, Access access>
__device__ __forceinline__ void sum_over_pixels(const char* image, float* coefficients) {
  sum_over_pixels<width>(coefficients, [&](std::uint32_t* words, std::uint32_t at) {
    load<access, width>(words, image + at);
  });
}

}  // namespace strata::dct
