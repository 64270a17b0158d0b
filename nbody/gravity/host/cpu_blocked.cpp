// Rung cpu_blocked: how near to its arithmetic peak can the CPU come?
//
// A core has some vectors of bodies in registers; each body that pulls is read once for all of
// them. They come in pieces of 1024, 16 KiB, which stay in L1 while all of a core's bodies go over
// them. Every 256 of them the sums in registers are added to the totals and begin anew.
//
// m s^(-3/2) from y ≈ 1/√s: with e = 1 − s y², which is small, it is m y³ (1 − e)^(-3/2) =
// m y³ (1 + 3e/2 + 15e²/8 + …). Of AVX-512's 14 bits the square is already below single precision,
// and what is left is 3/2 m y³ (5/3 − s y²): one multiply-add and two products, the factor in front
// once for all. Beside the reciprocal square root a pair takes 14 instructions; a Newton step for y
// itself, and its cube, take two more.
#include "harness/case/error.hpp"
#include "harness/model/layout.hpp"
#include "nbody/gravity/host/crew.hpp"
#include "nbody/gravity/host/vector_walk.hpp"
#include "nbody/gravity/host/vectors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace strata::nbody::cpu_blocked {
namespace {

#if defined(__x86_64__)

constexpr std::size_t piece = 1024;  // bodies that pull, which are in L1 together
constexpr std::size_t bodies_of_sum = 256;

/// Vectors of bodies that are pulled, each lane another body.
struct Group {
  const float* x;  ///< of the first
  const float* y;
  const float* z;
  float* ax;  ///< totals, which the sums are added to: one number a body
  float* ay;
  float* az;
  std::size_t count;  ///< of bodies; at most vectors × lanes
};

/// 5/3 as it is rounded, and the factor that makes up for it.
constexpr float five_thirds = 5.0F / 3.0F;
constexpr auto scale = static_cast<float>(1 / (static_cast<double>(five_thirds) - 1));

[[STRATA_AVX512]] inline void add_avx512(float* totals, __mmask16 there, __m512 sums) {
  const __m512 before = _mm512_maskz_loadu_ps(there, totals);
  _mm512_mask_storeu_ps(totals, there, _mm512_fmadd_ps(sums, _mm512_set1_ps(scale), before));
}
[[STRATA_AVX2]] inline void add_avx2(float* totals, __m256i there, __m256 sums) {
  _mm256_maskstore_ps(totals, there, _mm256_add_ps(sums, _mm256_maskload_ps(totals, there)));
}

template <std::size_t vectors>
[[STRATA_AVX512]] void pull_avx512(const Group& group, const Pulling& from, std::size_t first,
                                   std::size_t last, float softening_squared) {
  struct Held {
    __m512 x, y, z, ax, ay, az;
  };
  std::array<Held, vectors> held{};
  const __m512 softening = _mm512_set1_ps(softening_squared);
  const __m512 near_one = _mm512_set1_ps(five_thirds);
#pragma GCC unroll 4
  for (std::size_t v = 0; v < vectors; ++v) {
    const __mmask16 there = first_lanes_avx512(group.count - avx512_lanes * v);
    Held& h = held[v];
    h.x = _mm512_maskz_loadu_ps(there, group.x + avx512_lanes * v);
    h.y = _mm512_maskz_loadu_ps(there, group.y + avx512_lanes * v);
    h.z = _mm512_maskz_loadu_ps(there, group.z + avx512_lanes * v);
  }
  while (first < last) {
    const std::size_t end = std::min(first + bodies_of_sum, last);
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v)
      held[v].ax = held[v].ay = held[v].az = _mm512_setzero_ps();
    for (std::size_t j = first; j < end; ++j) {
      const __m512 x = _mm512_set1_ps(from.x[j]);
      const __m512 y = _mm512_set1_ps(from.y[j]);
      const __m512 z = _mm512_set1_ps(from.z[j]);
      const __m512 mass = _mm512_set1_ps(from.mass[j]);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v) {
        Held& h = held[v];
        const __m512 dx = _mm512_sub_ps(x, h.x);
        const __m512 dy = _mm512_sub_ps(y, h.y);
        const __m512 dz = _mm512_sub_ps(z, h.z);
        const __m512 squared =
            _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, softening)));
        const __m512 about = rsqrt14_avx512(squared);
        const __m512 about_squared = _mm512_mul_ps(about, about);
        const __m512 cube = _mm512_mul_ps(_mm512_mul_ps(mass, about), about_squared);
        const __m512 strength =
            _mm512_mul_ps(cube, _mm512_fnmadd_ps(squared, about_squared, near_one));
        h.ax = _mm512_fmadd_ps(strength, dx, h.ax);
        h.ay = _mm512_fmadd_ps(strength, dy, h.ay);
        h.az = _mm512_fmadd_ps(strength, dz, h.az);
      }
    }
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) {
      const __mmask16 there = first_lanes_avx512(group.count - avx512_lanes * v);
      const Held& h = held[v];
      add_avx512(group.ax + avx512_lanes * v, there, h.ax);
      add_avx512(group.ay + avx512_lanes * v, there, h.ay);
      add_avx512(group.az + avx512_lanes * v, there, h.az);
    }
    first = end;
  }
}

/// The same in half the lanes, and by a reciprocal square root of 12 bits, whose e² is kept.
template <std::size_t vectors>
[[STRATA_AVX2]] void pull_avx2(const Group& group, const Pulling& from, std::size_t first,
                               std::size_t last, float softening_squared) {
  struct Held {
    __m256 x, y, z, ax, ay, az;
  };
  std::array<Held, vectors> held{};
  const __m256 softening = _mm256_set1_ps(softening_squared);
  const __m256 one = _mm256_set1_ps(1);
  const __m256 linear = _mm256_set1_ps(1.5F);
  const __m256 quadratic = _mm256_set1_ps(1.875F);
#pragma GCC unroll 4
  for (std::size_t v = 0; v < vectors; ++v) {
    const __m256i there = first_lanes_avx2(group.count - avx2_lanes * v);
    Held& h = held[v];
    h.x = _mm256_maskload_ps(group.x + avx2_lanes * v, there);
    h.y = _mm256_maskload_ps(group.y + avx2_lanes * v, there);
    h.z = _mm256_maskload_ps(group.z + avx2_lanes * v, there);
  }
  while (first < last) {
    const std::size_t end = std::min(first + bodies_of_sum, last);
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v)
      held[v].ax = held[v].ay = held[v].az = _mm256_setzero_ps();
    for (std::size_t j = first; j < end; ++j) {
      const __m256 x = _mm256_set1_ps(from.x[j]);
      const __m256 y = _mm256_set1_ps(from.y[j]);
      const __m256 z = _mm256_set1_ps(from.z[j]);
      const __m256 mass = _mm256_set1_ps(from.mass[j]);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v) {
        Held& h = held[v];
        const __m256 dx = _mm256_sub_ps(x, h.x);
        const __m256 dy = _mm256_sub_ps(y, h.y);
        const __m256 dz = _mm256_sub_ps(z, h.z);
        const __m256 squared =
            _mm256_fmadd_ps(dx, dx, _mm256_fmadd_ps(dy, dy, _mm256_fmadd_ps(dz, dz, softening)));
        const __m256 about = _mm256_rsqrt_ps(squared);
        const __m256 about_squared = _mm256_mul_ps(about, about);
        const __m256 cube = _mm256_mul_ps(_mm256_mul_ps(mass, about), about_squared);
        const __m256 e = _mm256_fnmadd_ps(squared, about_squared, one);
        const __m256 strength =
            _mm256_mul_ps(cube, _mm256_fmadd_ps(e, _mm256_fmadd_ps(e, quadratic, linear), one));
        h.ax = _mm256_fmadd_ps(strength, dx, h.ax);
        h.ay = _mm256_fmadd_ps(strength, dy, h.ay);
        h.az = _mm256_fmadd_ps(strength, dz, h.az);
      }
    }
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) {
      const __m256i there = first_lanes_avx2(group.count - avx2_lanes * v);
      const Held& h = held[v];
      add_avx2(group.ax + avx2_lanes * v, there, h.ax);
      add_avx2(group.ay + avx2_lanes * v, there, h.ay);
      add_avx2(group.az + avx2_lanes * v, there, h.az);
    }
    first = end;
  }
}

using PullGroup = void (*)(const Group&, const Pulling&, std::size_t, std::size_t, float);

/// What takes a group of 1, 2, … vectors.
struct Code {
  std::size_t lanes;
  std::array<PullGroup, 4> of_vectors;  ///< null beyond the most that registers hold
  std::size_t most;
};

/// All pieces of a system upon these of its bodies.
void climb_stretch(const HostStep& step, const Stretch& mine, const Code& code,
                   std::vector<float>& totals) {
  const Pulling from = pulling(step, mine.system);
  const std::size_t count = mine.last - mine.first;
  totals.assign(3 * count, 0.0F);
  for (std::size_t start = 0; start < step.bodies; start += piece) {
    const std::size_t end = std::min<std::size_t>(start + piece, step.bodies);
    for (std::size_t at = 0; at < count;) {
      const std::size_t vectors = std::min((count - at + code.lanes - 1) / code.lanes, code.most);
      const std::size_t i = mine.first + at;
      const std::size_t bodies = std::min(vectors * code.lanes, count - at);
      code.of_vectors[vectors - 1]({.x = from.x + i,
                                    .y = from.y + i,
                                    .z = from.z + i,
                                    .ax = &totals[at],
                                    .ay = &totals[count + at],
                                    .az = &totals[2 * count + at],
                                    .count = bodies},
                                   from, start, end, step.softening_squared);
      at += bodies;
    }
  }
  for (std::size_t b = 0; b < count; ++b) {
    finish<Soa>(step, mine.system + mine.first + b, totals[b], totals[count + b],
                totals[2 * count + b]);
  }
}

HostClimber make(Vectors have) {
  if (have == Vectors::none) throw Skipped{"the CPU has no fused multiply-adds on vectors"};
  const Code code =
      have == Vectors::avx512
          ? Code{avx512_lanes, {pull_avx512<1>, pull_avx512<2>, pull_avx512<3>, pull_avx512<4>}, 4}
          : Code{avx2_lanes, {pull_avx2<1>, pull_avx2<2>, nullptr, nullptr}, 2};
  return on_all_cores(
      [code](const HostStep& step, const Place& place) {
        thread_local std::vector<float> totals;
        for_my_bodies(step, place, code.lanes,
                      [&](const Stretch& mine) { climb_stretch(step, mine, code, totals); });
      },
      to_string(have));
}

#else

HostClimber make(Vectors /*have*/) {
  throw Skipped{"the instructions are written for x86-64"};
}

#endif

STRATA_HOST_RUNG("cpu_blocked", make);

}  // namespace
}  // namespace strata::nbody::cpu_blocked
