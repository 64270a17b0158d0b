// One body at a time, one pair at a time: what the rungs without vectors compute. Host only.
#pragma once

#include "harness/model/layout.hpp"
#include "nbody/gravity/host/threads.hpp"

#include <cmath>
#include <cstddef>

// A compiler that knows how may put x, y and z into lanes of one vector. What is asked here is what
// one number at a time costs.
#if defined(__GNUC__) && !defined(__clang__)
#define STRATA_SCALAR [[gnu::noinline, gnu::optimize("no-tree-vectorize", "no-tree-slp-vectorize")]]
#else
#define STRATA_SCALAR [[gnu::noinline]]
#endif

namespace strata::nbody {

/// Computes and finishes body i of the system that begins at body `system`.
template <Layout L>
STRATA_SCALAR void one_body_scalar(const Step& step, std::size_t system, std::size_t i) {
  const std::size_t n = step.total();
  constexpr std::size_t stride = word_of<L>(Field::px, 1, 2) - word_of<L>(Field::px, 0, 2);
  const float* const px = step.from + word_at<L, Field::px>(system, n);
  const float* const py = step.from + word_at<L, Field::py>(system, n);
  const float* const pz = step.from + word_at<L, Field::pz>(system, n);
  const float* const mass = step.from + word_at<L, Field::mass>(system, n);
  const float x = px[stride * i];
  const float y = py[stride * i];
  const float z = pz[stride * i];
  const float softening = step.softening_squared;
  float ax = 0;
  float ay = 0;
  float az = 0;
  for (std::size_t j = 0; j < stride * step.bodies; j += stride) {
    const float dx = px[j] - x;
    const float dy = py[j] - y;
    const float dz = pz[j] - z;
    const float inverse = 1.0F / std::sqrt(dx * dx + (dy * dy + (dz * dz + softening)));
    const float strength = mass[j] * inverse * (inverse * inverse);
    ax += strength * dx;
    ay += strength * dy;
    az += strength * dz;
  }
  finish<L>(step, system + i, ax, ay, az);
}

}  // namespace strata::nbody
