// Bodies in device memory: read and written in any layout, by the reads that the layout declares;
// and the force between two bodies, in the forms that distinguish the rungs.
#pragma once

#include "harness/model/layout.hpp"
#include "nbody/gravity/rung_experiment.hpp"

#include <cstdint>
#include <utility>

namespace strata::nbody {

/// 1 / √x by the special function unit, accurate to one or two units in the last place. Subnormal
/// numbers are flushed to 0 (ftz), without which ptxas adds three instructions. Expected: one
/// MUFU.RSQ.
__device__ __forceinline__ float fast_rsqrt(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// In standard C++: a square root and a division, both rounded according to IEEE 754.
struct Plain {
  static constexpr unsigned square_roots = 0;  ///< special functions are not one per pair
  __device__ static __forceinline__ float inverse(float x) { return 1.0F / sqrtf(x); }
};

/// Fused multiply-adds and the special function unit.
struct Fast {
  static constexpr unsigned square_roots = 1;
  __device__ static __forceinline__ float inverse(float x) { return fast_rsqrt(x); }
};

/// The accumulated acceleration of a body.
struct Acceleration {
  float x = 0;
  float y = 0;
  float z = 0;
};

/// Adds the force of `other` (position and mass) on a body at `me`.
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

/// Adds the force of `other` on a body at `me`, and the reaction on `other`, from the same root.
__device__ __forceinline__ void pull_both(Acceleration& sum, Acceleration& reaction,
                                          const float4& me, const float4& other,
                                          float softening_squared) {
  const float dx = other.x - me.x;
  const float dy = other.y - me.y;
  const float dz = other.z - me.z;
  const float squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
  const float inverse = fast_rsqrt(squared);
  const float cube = inverse * (inverse * inverse);
  const float upon_me = other.w * cube;
  const float upon_other = -me.w * cube;
  sum.x = fmaf(upon_me, dx, sum.x);
  sum.y = fmaf(upon_me, dy, sum.y);
  sum.z = fmaf(upon_me, dz, sum.z);
  reaction.x = fmaf(upon_other, dx, reaction.x);
  reaction.y = fmaf(upon_other, dy, reaction.y);
  reaction.z = fmaf(upon_other, dz, reaction.z);
}

/// The value of the next lane.
__device__ __forceinline__ float turned(float value, unsigned lane) {
  constexpr unsigned lanes = 32;
  return __shfl_sync(0xFFFFFFFFU, value, static_cast<int>((lane + 1) % lanes));
}

/// A body without mass, at the place of its reader: it exerts no force.
__device__ __forceinline__ float4 massless() {
  return {0, 0, 0, 0};
}

/// Adds to memory to which others may add as well, in no fixed order.
__device__ __forceinline__ void add_to(float4* at, float x, float y, float z) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(at), "f"(x), "f"(y), "f"(z), "f"(0.0F)
               : "memory");
#else
  atomicAdd(&at->x, x);
  atomicAdd(&at->y, y);
  atomicAdd(&at->z, z);
#endif
}

/// The data that a move needs besides position and mass.
struct Velocity {
  static constexpr bool wants(int f) {
    return f >= static_cast<int>(Field::vx) && f <= static_cast<int>(Field::vz);
  }
};

/// Calls visit.operator()<k>() for each k below `count`.
template <std::size_t count, class Visit>
__device__ __forceinline__ void for_each_index(Visit&& visit) {
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (visit.template operator()<k>(), ...);
  }
  (std::make_index_sequence<count>{});
}

/// The requested fields of body i of n, each in its place.
template <Layout L, class Fields>
__device__ __forceinline__ void read_fields(const float* __restrict__ words, std::uint32_t i,
                                            std::uint32_t n, float (&value)[field_count]) {
  for_each_index<L::reads.size()>([&]<std::size_t r>() {
    constexpr Issue issue = issued<L, Fields>(r);
    if constexpr (issue.words > 0) {
      const std::uint32_t first =
          L::template first_word<std::uint32_t>(static_cast<std::uint32_t>(r), i, n) + issue.offset;
      float got[4];
      if constexpr (issue.words == 4) {
        const float4 all = *reinterpret_cast<const float4*>(words + first);
        got[0] = all.x, got[1] = all.y, got[2] = all.z, got[3] = all.w;
      } else if constexpr (issue.words == 2) {
        const float2 both = *reinterpret_cast<const float2*>(words + first);
        got[0] = both.x, got[1] = both.y;
      } else {
        got[0] = words[first];
      }
      for_each_index<issue.words>([&]<std::size_t w>() {
        constexpr int f = L::reads[r].fields[issue.offset + w];
        if constexpr (f != padding) value[f] = got[w];
      });
    }
  });
}

template <Layout L>
__device__ __forceinline__ float4 read_posmass(const float* __restrict__ words, std::uint32_t i,
                                               std::uint32_t n) {
  float v[field_count];
  read_fields<L, Posmass>(words, i, n, v);
  return {v[0], v[1], v[2], v[6]};
}

template <Layout L>
__device__ __forceinline__ void write_all(float* words, std::uint32_t i, std::uint32_t n,
                                          const float (&value)[field_count]) {
  for_each_index<L::reads.size()>([&]<std::size_t r>() {
    constexpr Read read = L::reads[r];
    float out[4] = {1, 1, 1, 1};  // contents of padding
    for_each_index<read.words>([&]<std::size_t w>() {
      constexpr int f = L::reads[r].fields[w];
      if constexpr (f != padding) out[w] = value[f];
    });
    float* const first =
        words + L::template first_word<std::uint32_t>(static_cast<std::uint32_t>(r), i, n);
    if constexpr (read.words == 4) {
      *reinterpret_cast<float4*>(first) = float4{out[0], out[1], out[2], out[3]};
    } else {
      *first = out[0];
    }
  });
}

/// The arguments of a step's kernels.
struct Work {
  const float* __restrict__ from;
  float* __restrict__ to;
  float* __restrict__ acceleration;
  std::uint32_t bodies;
  std::uint32_t total;
  float softening_squared;
  float time_step;
  std::uint32_t begin;  ///< first body of each system that is computed
  std::uint32_t end;    ///< end of that range, which is shorter if several GPUs share a system
};
inline Work work_of(const Step& step) {
  return {
      step.from,      step.to, step.acceleration, step.bodies, step.total(), step.softening_squared,
      step.time_step, 0,       step.bodies};
}

/// Ends a step for body i: moves it, or stores its acceleration. First the velocity, then the
/// position with the new velocity (semi-implicit Euler, as in the report of Papadouli et al.).
template <Layout L, bool moves>
__device__ __forceinline__ void finish(const Work& work, std::uint32_t i, const float4& me,
                                       const Acceleration& pulls) {
  if constexpr (moves) {
    float v[field_count];
    read_fields<L, Velocity>(work.from, i, work.total, v);
    const float vx = fmaf(pulls.x, work.time_step, v[3]);
    const float vy = fmaf(pulls.y, work.time_step, v[4]);
    const float vz = fmaf(pulls.z, work.time_step, v[5]);
    write_all<L>(work.to, i, work.total,
                 {fmaf(vx, work.time_step, me.x), fmaf(vy, work.time_step, me.y),
                  fmaf(vz, work.time_step, me.z), vx, vy, vz, me.w});
  } else {
    work.acceleration[i] = pulls.x;
    work.acceleration[work.total + i] = pulls.y;
    work.acceleration[2 * work.total + i] = pulls.z;
  }
}

}  // namespace strata::nbody
