// The acceleration of one body, a vector of sources at a time: what rungs simd and simd_rsqrt
// compute. Host only.
#pragma once

#include "nbody/gravity/host/vectors.hpp"

#include <cstddef>

namespace strata::nbody {

/// `approximate`: an approximate reciprocal square root and one Newton step, y (3 − s y²) / 2, in
/// place of square root and division.
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
    const auto add = [&](const V& sx, const V& sy, const V& sz, const V& mass)
        __attribute__((always_inline)) {
      const V dx = sx - x;
      const V dy = sy - y;
      const V dz = sz - z;
      const V squared = dx * dx + (dy * dy + (dz * dz + step.softening_squared));
      V inverse = squared;
      if constexpr (approximate) {
        approximate_rsqrt(inverse);
        inverse = inverse * (1.5F - squared * 0.5F * inverse * inverse);
      } else {
        square_root(inverse);
        inverse = 1 / inverse;
      }
      const V strength = mass * inverse * (inverse * inverse);
      ax += strength * dx;
      ay += strength * dy;
      az += strength * dz;
    };
    std::size_t j = 0;
    for (; j + lanes <= step.bodies; j += lanes)
      add(load<lanes>(from.x + j), load<lanes>(from.y + j), load<lanes>(from.z + j),
          load<lanes>(from.mass + j));
    if (const std::size_t left = step.bodies - j; left > 0) {
      // The lanes beyond the last body have position and mass 0: they attract nobody.
      add(load_first<lanes>(from.x + j, left), load_first<lanes>(from.y + j, left),
          load_first<lanes>(from.z + j, left), load_first<lanes>(from.mass + j, left));
    }
    finish<Soa>(step, system + i, sum<lanes>(ax), sum<lanes>(ay), sum<lanes>(az));
  }
};

template <bool approximate>
HostKernel one_body_kernel(Vectors have) {
  return body_by_body(kernel_for<OneBody<approximate>, const Step&, std::size_t, std::size_t>(have),
                      to_string(have));
}

}  // namespace strata::nbody
