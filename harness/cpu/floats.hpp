// One source for a kernel in AVX2 and in AVX-512, selected at run time. x86-64 only; elsewhere, and
// on a CPU without vector fused multiply-adds, the case is skipped. Host only.
//
// A kernel is a struct with `template <unsigned lanes> static void run(…)`, always inlined: its
// arithmetic on Floats<lanes> (the compiler's own vectors) is compiled for each.
#pragma once

#include "harness/base/error.hpp"
#include "harness/cpu/vectors.hpp"
#include "harness/cpu/widest.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define STRATA_INLINE gnu::always_inline
#define STRATA_AVX2 gnu::target("avx2,fma")
#define STRATA_AVX512 gnu::target("avx512f,avx2,fma")

// The calling convention of vectors differs with and without AVX, so everything here is inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace strata {

inline constexpr unsigned avx2_lanes = 8;
inline constexpr unsigned avx512_lanes = 16;

template <unsigned lanes>
using Floats = VectorOf<float, lanes>;

#if defined(__x86_64__)
/// Replaces each x by 1/√x to 14 bits (AVX-512) or 12 (AVX2).
[[STRATA_AVX512]] inline void approximate_rsqrt(Floats<avx512_lanes>& x) {
  x = _mm512_maskz_rsqrt14_ps(0xFFFF, x);  // g++ 12 warns of the form without a mask
}
[[STRATA_AVX2]] inline void approximate_rsqrt(Floats<avx2_lanes>& x) {
  x = _mm256_rsqrt_ps(x);
}
/// Each replaces x by 1/x to as many bits.
[[STRATA_AVX512]] inline void approximate_reciprocal(Floats<avx512_lanes>& x) {
  x = _mm512_maskz_rcp14_ps(0xFFFF, x);
}
[[STRATA_AVX2]] inline void approximate_reciprocal(Floats<avx2_lanes>& x) {
  x = _mm256_rcp_ps(x);
}
/// Each replaces x by √x.
[[STRATA_AVX512]] inline void square_root(Floats<avx512_lanes>& x) {
  x = _mm512_maskz_sqrt_ps(0xFFFF, x);
}
[[STRATA_AVX2]] inline void square_root(Floats<avx2_lanes>& x) {
  x = _mm256_sqrt_ps(x);
}
#endif

/// The first `count` numbers; 0 in the other lanes.
template <unsigned lanes>
[[STRATA_INLINE]] inline Floats<lanes> load(const float* from, std::size_t count = lanes) {
  Floats<lanes> some{};
  std::memcpy(&some, from, count * sizeof(float));
  return some;
}
template <unsigned lanes>
[[STRATA_INLINE]] inline void store(float* to, const Floats<lanes>& numbers) {
  std::memcpy(to, &numbers, sizeof numbers);
}

/// The sum of all lanes, in pairs.
template <unsigned lanes>
[[STRATA_INLINE]] inline float sum(const Floats<lanes>& numbers) {
  if constexpr (lanes == 1) {
    return numbers[0];
  } else {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): all of it is filled next
    std::array<Floats<lanes / 2>, 2> halves;
    std::memcpy(&halves, &numbers, sizeof halves);
    return sum<lanes / 2>(halves[0] + halves[1]);
  }
}

#if defined(__x86_64__)
template <class Kernel, class... Arguments>
[[STRATA_AVX512]] void run_avx512(Arguments... arguments) {
  Kernel::template run<avx512_lanes>(arguments...);
}
template <class Kernel, class... Arguments>
[[STRATA_AVX2]] void run_avx2(Arguments... arguments) {
  Kernel::template run<avx2_lanes>(arguments...);
}
#endif

/// The kernel for these vectors. Throws Skipped if there are none.
template <class Kernel, class... Arguments>
[[nodiscard]] auto kernel_for([[maybe_unused]] Vectors have) -> void (*)(Arguments...) {
#if defined(__x86_64__)
  if (have == Vectors::avx512) return run_avx512<Kernel, Arguments...>;
  if (have == Vectors::avx2) return run_avx2<Kernel, Arguments...>;
  throw Skipped{"the CPU has no vector fused multiply-add"};
#else
  throw Skipped{"the instructions are written for x86-64"};
#endif
}

}  // namespace strata
