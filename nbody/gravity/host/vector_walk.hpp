// A walk over the bodies that pull, as many at a time as a vector has lanes: what rungs simd and
// simd_rsqrt compute. Host only.
//
// Of the last vector, lanes beyond the last body have position and mass 0: they pull nobody.
#pragma once

#include "harness/case/error.hpp"
#include "harness/model/layout.hpp"
#include "nbody/gravity/host/crew.hpp"
#include "nbody/gravity/host/vectors.hpp"

#include <cstddef>

namespace strata::nbody {

/// Where the fields of a system begin that pull.
struct Pulling {
  const float* x;
  const float* y;
  const float* z;
  const float* mass;
};
inline Pulling pulling(const HostStep& step, std::size_t system) {
  const std::size_t n = step.total();
  return {step.from + word_at<Soa, Field::px>(system, n),
          step.from + word_at<Soa, Field::py>(system, n),
          step.from + word_at<Soa, Field::pz>(system, n),
          step.from + word_at<Soa, Field::mass>(system, n)};
}

#if defined(__x86_64__)

/// A body on its walk. `approximate`, below: rsqrt and one Newton step, y (3 − s y²) / 2, in the
/// place of square root and division.
struct WalkAvx512 {
  __m512 x, y, z;     // of the body that is pulled
  __m512 ax, ay, az;  // its sums, by lanes
  __m512 softening;
};

template <bool approximate>
[[STRATA_AVX512, gnu::always_inline]] inline void add_pulls_avx512(WalkAvx512& walk, __m512 x,
                                                                   __m512 y, __m512 z,
                                                                   __m512 mass) {
  const __m512 dx = _mm512_sub_ps(x, walk.x);
  const __m512 dy = _mm512_sub_ps(y, walk.y);
  const __m512 dz = _mm512_sub_ps(z, walk.z);
  const __m512 squared =
      _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, walk.softening)));
  __m512 inverse;
  if constexpr (approximate) {
    const __m512 about = rsqrt14_avx512(squared);
    const __m512 scaled = _mm512_mul_ps(_mm512_mul_ps(squared, _mm512_set1_ps(0.5F)), about);
    inverse = _mm512_mul_ps(about, _mm512_fnmadd_ps(scaled, about, _mm512_set1_ps(1.5F)));
  } else {
    inverse = _mm512_div_ps(_mm512_set1_ps(1), _mm512_maskz_sqrt_ps(all_lanes_avx512, squared));
  }
  const __m512 strength =
      _mm512_mul_ps(_mm512_mul_ps(mass, inverse), _mm512_mul_ps(inverse, inverse));
  walk.ax = _mm512_fmadd_ps(strength, dx, walk.ax);
  walk.ay = _mm512_fmadd_ps(strength, dy, walk.ay);
  walk.az = _mm512_fmadd_ps(strength, dz, walk.az);
}

template <bool approximate>
[[STRATA_AVX512]] void walk_avx512(const HostStep& step, std::size_t system, std::size_t i) {
  const Pulling from = pulling(step, system);
  WalkAvx512 walk{};
  walk.x = _mm512_set1_ps(from.x[i]);
  walk.y = _mm512_set1_ps(from.y[i]);
  walk.z = _mm512_set1_ps(from.z[i]);
  walk.ax = walk.ay = walk.az = _mm512_setzero_ps();
  walk.softening = _mm512_set1_ps(step.softening_squared);
  std::size_t j = 0;
  for (; j + avx512_lanes <= step.bodies; j += avx512_lanes) {
    add_pulls_avx512<approximate>(walk, _mm512_loadu_ps(from.x + j), _mm512_loadu_ps(from.y + j),
                                  _mm512_loadu_ps(from.z + j), _mm512_loadu_ps(from.mass + j));
  }
  if (j < step.bodies) {
    const __mmask16 there = first_lanes_avx512(step.bodies - j);
    add_pulls_avx512<approximate>(
        walk, _mm512_maskz_loadu_ps(there, from.x + j), _mm512_maskz_loadu_ps(there, from.y + j),
        _mm512_maskz_loadu_ps(there, from.z + j), _mm512_maskz_loadu_ps(there, from.mass + j));
  }
  finish<Soa>(step, system + i, sum_avx512(walk.ax), sum_avx512(walk.ay), sum_avx512(walk.az));
}

/// The same in half the lanes. The Newton step begins at 12 bits and ends at 22.
struct WalkAvx2 {
  __m256 x, y, z;     // of the body that is pulled
  __m256 ax, ay, az;  // its sums, by lanes
  __m256 softening;
};

template <bool approximate>
[[STRATA_AVX2, gnu::always_inline]] inline void add_pulls_avx2(WalkAvx2& walk, __m256 x, __m256 y,
                                                               __m256 z, __m256 mass) {
  const __m256 dx = _mm256_sub_ps(x, walk.x);
  const __m256 dy = _mm256_sub_ps(y, walk.y);
  const __m256 dz = _mm256_sub_ps(z, walk.z);
  const __m256 squared =
      _mm256_fmadd_ps(dx, dx, _mm256_fmadd_ps(dy, dy, _mm256_fmadd_ps(dz, dz, walk.softening)));
  __m256 inverse;
  if constexpr (approximate) {
    const __m256 about = _mm256_rsqrt_ps(squared);
    const __m256 scaled = _mm256_mul_ps(_mm256_mul_ps(squared, _mm256_set1_ps(0.5F)), about);
    inverse = _mm256_mul_ps(about, _mm256_fnmadd_ps(scaled, about, _mm256_set1_ps(1.5F)));
  } else {
    inverse = _mm256_div_ps(_mm256_set1_ps(1), _mm256_sqrt_ps(squared));
  }
  const __m256 strength =
      _mm256_mul_ps(_mm256_mul_ps(mass, inverse), _mm256_mul_ps(inverse, inverse));
  walk.ax = _mm256_fmadd_ps(strength, dx, walk.ax);
  walk.ay = _mm256_fmadd_ps(strength, dy, walk.ay);
  walk.az = _mm256_fmadd_ps(strength, dz, walk.az);
}

template <bool approximate>
[[STRATA_AVX2]] void walk_avx2(const HostStep& step, std::size_t system, std::size_t i) {
  const Pulling from = pulling(step, system);
  WalkAvx2 walk{};
  walk.x = _mm256_set1_ps(from.x[i]);
  walk.y = _mm256_set1_ps(from.y[i]);
  walk.z = _mm256_set1_ps(from.z[i]);
  walk.ax = walk.ay = walk.az = _mm256_setzero_ps();
  walk.softening = _mm256_set1_ps(step.softening_squared);
  std::size_t j = 0;
  for (; j + avx2_lanes <= step.bodies; j += avx2_lanes) {
    add_pulls_avx2<approximate>(walk, _mm256_loadu_ps(from.x + j), _mm256_loadu_ps(from.y + j),
                                _mm256_loadu_ps(from.z + j), _mm256_loadu_ps(from.mass + j));
  }
  if (j < step.bodies) {
    const __m256i there = first_lanes_avx2(step.bodies - j);
    add_pulls_avx2<approximate>(
        walk, _mm256_maskload_ps(from.x + j, there), _mm256_maskload_ps(from.y + j, there),
        _mm256_maskload_ps(from.z + j, there), _mm256_maskload_ps(from.mass + j, there));
  }
  finish<Soa>(step, system + i, sum_avx2(walk.ax), sum_avx2(walk.ay), sum_avx2(walk.az));
}

#endif

/// A body at a time, the bodies shared out among all cores.
template <bool approximate>
HostClimber vector_climber([[maybe_unused]] Vectors have) {
#if defined(__x86_64__)
  const auto climber = [have](auto walk) {
    return on_all_cores(
        [walk](const HostStep& step, const Place& place) {
          for_my_bodies(step, place, 1, [&](const Stretch& mine) {
            for (std::size_t i = mine.first; i < mine.last; ++i)
              walk(step, mine.system, i);
          });
        },
        to_string(have));
  };
  if (have == Vectors::avx512) return climber(walk_avx512<approximate>);
  if (have == Vectors::avx2) return climber(walk_avx2<approximate>);
  throw Skipped{"the CPU has no fused multiply-adds on vectors"};
#else
  throw Skipped{"the instructions are written for x86-64"};
#endif
}

}  // namespace strata::nbody
