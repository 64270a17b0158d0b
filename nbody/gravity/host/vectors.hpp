// What the rungs in vectors share: the widest instructions, chosen when the program runs, in a
// build for a CPU that may not have them. x86-64 only; empty elsewhere. Host only.
#pragma once

#if defined(__x86_64__)

#include <array>
#include <cstddef>
#include <immintrin.h>

#define STRATA_AVX2 gnu::target("avx2,fma")
#define STRATA_AVX512 gnu::target("avx512f,avx2,fma")

namespace strata::nbody {

inline constexpr unsigned avx2_lanes = 8;
inline constexpr unsigned avx512_lanes = 16;

/// The first `count` lanes, or all.
[[STRATA_AVX2]] inline __m256i first_lanes_avx2(std::size_t count) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(
      _mm256_set1_epi32(static_cast<int>(count < avx2_lanes ? count : avx2_lanes)), lane);
}
inline constexpr __mmask16 all_lanes_avx512 = 0xFFFF;
inline __mmask16 first_lanes_avx512(std::size_t count) {
  return count < avx512_lanes ? static_cast<__mmask16>((1U << count) - 1) : all_lanes_avx512;
}

/// 1/√x to 14 bits. The form without a mask has an undefined operand, which g++ 12 warns of; with
/// one of all lanes it becomes the same instruction.
[[STRATA_AVX512]] inline __m512 rsqrt14_avx512(__m512 x) {
  return _mm512_maskz_rsqrt14_ps(all_lanes_avx512, x);
}

/// The sum of all lanes, in pairs. Inlined, as g++ 12 leaves the upper halves of vectors in use
/// where a function with vectors as arguments is called, and all that follows without vectors is
/// slow.
[[STRATA_AVX2, gnu::always_inline]] inline float sum_avx2(__m256 lanes) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
[[STRATA_AVX512, gnu::always_inline]] inline float sum_avx512(__m512 lanes) {
  alignas(64) std::array<float, avx512_lanes> lane{};  // g++ 12 warns of taking a vector apart
  _mm512_store_ps(lane.data(), lanes);
  return sum_avx2(_mm256_add_ps(_mm256_load_ps(lane.data()), _mm256_load_ps(&lane[avx2_lanes])));
}

}  // namespace strata::nbody

#endif
