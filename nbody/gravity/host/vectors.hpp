// Shared parts of the vectorised rungs: reciprocal square roots, and the acceleration of one body
// by all others. Host only.
#pragma once

#include "harness/cpu/floats.hpp"
#include "harness/model/layout.hpp"
#include "nbody/gravity/host/host_rung.hpp"

#include <cstddef>

namespace strata::nbody {

/// s^(-3/2) ÷ inverse_cube_scale(lanes), from an approximate y ≈ 1/√s. With a small e = 1 − s y² it
/// is y³ (1 − e)^(-3/2) = y³ (1 + 3e/2 + 15e²/8 + …). With AVX-512's approximation of 14 bits, e²
/// is below single precision, which leaves 3/2 y³ (5/3 − s y²): two instructions fewer than a
/// Newton step for y and its cube. The caller applies the leading factor once, to the sums. AVX2's
/// 12 bits need e².
inline constexpr float five_thirds = 5.0F / 3.0F;
[[nodiscard]] constexpr float inverse_cube_scale(unsigned lanes) {
  // The factor that corresponds to the rounded 5/3.
  return lanes == avx512_lanes ? static_cast<float>(1 / (static_cast<double>(five_thirds) - 1)) : 1;
}
template <unsigned lanes>
[[STRATA_INLINE]] inline Floats<lanes> inverse_cube(const Floats<lanes>& s) {
  Floats<lanes> y = s;
  approximate_rsqrt(y);
  const Floats<lanes> y_squared = y * y;
  const Floats<lanes> cube = y_squared * y;
  if constexpr (lanes == avx512_lanes) return cube * (five_thirds - s * y_squared);
  const Floats<lanes> e = 1 - s * y_squared;
  return cube * (1 + e * (1.5F + e * 1.875F));
}

/// The starts of the fields of a system's source bodies.
struct Sources {
  const float* x;
  const float* y;
  const float* z;
  const float* mass;
};
inline Sources operator+(const Sources& from, std::size_t i) {
  return {from.x + i, from.y + i, from.z + i, from.mass + i};
}
inline Sources sources_of(const Step& step, std::size_t system) {
  const std::size_t n = step.total();
  return {step.from + word_at<Soa, Field::px>(system, n),
          step.from + word_at<Soa, Field::py>(system, n),
          step.from + word_at<Soa, Field::pz>(system, n),
          step.from + word_at<Soa, Field::mass>(system, n)};
}

/// The acceleration of one body, a vector of sources at a time. `approximate`: with the approximate
/// reciprocal square root and one Newton step, y (3 − s y²) / 2, instead of square root and
/// division.
template <bool approximate>
struct OneBody {
  template <unsigned lanes>
  [[STRATA_INLINE]] static void run(const Step& step, std::size_t system, std::size_t i) {
    using V = Floats<lanes>;
    const Sources from = sources_of(step, system);
    const float x = from.x[i];
    const float y = from.y[i];
    const float z = from.z[i];
    V ax{};
    V ay{};
    V az{};
    const auto add = [&](std::size_t j, std::size_t count) __attribute__((always_inline)) {
      const V dx = load<lanes>(from.x + j, count) - x;
      const V dy = load<lanes>(from.y + j, count) - y;
      const V dz = load<lanes>(from.z + j, count) - z;
      const V squared = dx * dx + (dy * dy + (dz * dz + step.softening_squared));
      V inverse = squared;
      if constexpr (approximate) {
        approximate_rsqrt(inverse);
        inverse = inverse * (1.5F - squared * 0.5F * inverse * inverse);
      } else {
        square_root(inverse);
        inverse = 1 / inverse;
      }
      const V strength = load<lanes>(from.mass + j, count) * inverse * (inverse * inverse);
      ax += strength * dx;
      ay += strength * dy;
      az += strength * dz;
    };
    std::size_t j = 0;
    for (; j + lanes <= step.bodies; j += lanes)
      add(j, lanes);
    // The lanes beyond the last body have position and mass 0: they contribute nothing.
    if (j < step.bodies) add(j, step.bodies - j);
    finish<Soa>(step, system + i, sum<lanes>(ax), sum<lanes>(ay), sum<lanes>(az));
  }
};

template <bool approximate>
HostKernel one_body_kernel(Vectors have) {
  return body_by_body(kernel_for<OneBody<approximate>, const Step&, std::size_t, std::size_t>(have),
                      to_string(have));
}

}  // namespace strata::nbody
