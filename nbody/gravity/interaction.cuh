// The pull of one body upon another, in the forms that rungs differ by.
#pragma once

#include <cstdint>

namespace strata::nbody {

/// 1 / √x by the special function unit, right to a unit or two in the last place; numbers that are
/// too small to be normal are 0 (ftz), without which ptxas puts three instructions more around it.
/// Wanted: one MUFU.RSQ.
__device__ __forceinline__ float fast_rsqrt(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// As C++ says it: a square root and a division, both rounded as IEEE 754 wants them.
struct Plain {
  static constexpr unsigned square_roots = 0;  ///< not one special function a pair
  __device__ static __forceinline__ float inverse(float x) { return 1.0F / sqrtf(x); }
};

/// Fused multiply-adds and the special function unit.
struct Fast {
  static constexpr unsigned square_roots = 1;
  __device__ static __forceinline__ float inverse(float x) { return fast_rsqrt(x); }
};

/// What has been added up of a body's acceleration.
struct Acceleration {
  float x = 0;
  float y = 0;
  float z = 0;
};

/// Adds the pull of `other` (position and mass) upon a body at `me`.
template <class Math>
__device__ __forceinline__ void pull(Acceleration& sum, const float4& me, const float4& other,
                                     float softening_squared) {
  const float dx = other.x - me.x;
  const float dy = other.y - me.y;
  const float dz = other.z - me.z;
  const float squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
  const float inverse = Math::inverse(squared);
  const float strength = other.w * inverse * (inverse * inverse);
  sum.x = fmaf(strength, dx, sum.x);
  sum.y = fmaf(strength, dy, sum.y);
  sum.z = fmaf(strength, dz, sum.z);
}

/// A body without mass, at the place of its reader: it pulls nobody.
__device__ __forceinline__ float4 nobody() {
  return {0, 0, 0, 0};
}

}  // namespace strata::nbody
