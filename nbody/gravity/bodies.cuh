// Reading and writing bodies in any layout, by the reads that the layout declares.
#pragma once

#include "harness/model/layout.hpp"
#include "nbody/gravity/interaction.cuh"
#include "nbody/gravity/step.hpp"

#include <cstdint>
#include <utility>

namespace strata::nbody {

/// Velocity and mass aside, as a move needs it.
struct Velocity {
  static constexpr std::string_view name = "velocity";
  static constexpr unsigned count = 3;
  static constexpr bool wants(int f) {
    return f >= static_cast<int>(Field::vx) && f <= static_cast<int>(Field::vz);
  }
};

/// The wanted fields of body i of n, each in its place.
template <Layout L, class Fields>
__device__ __forceinline__ void read_fields(const float* __restrict__ words, std::uint32_t i,
                                            std::uint32_t n, float (&value)[field_count]) {
  [&]<std::size_t... r>(std::index_sequence<r...>) {
    (
        [&] {
          constexpr Issue issue = issued<L, Fields>(r);
          constexpr Read read = L::reads[r];
          if constexpr (issue.words > 0) {
            const std::uint32_t first =
                L::template first_word<std::uint32_t>(static_cast<std::uint32_t>(r), i, n) +
                issue.offset;
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
            [&]<std::size_t... w>(std::index_sequence<w...>) {
              (
                  [&] {
                    constexpr int f = read.fields[issue.offset + w];
                    if constexpr (f != padding) value[f] = got[w];
                  }(),
                  ...);
            }
            (std::make_index_sequence<issue.words>{});
          }
        }(),
        ...);
  }
  (std::make_index_sequence<L::reads.size()>{});
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
  [&]<std::size_t... r>(std::index_sequence<r...>) {
    (
        [&] {
          constexpr Read read = L::reads[r];
          float out[4] = {1, 1, 1, 1};  // what padding holds
          [&]<std::size_t... w>(std::index_sequence<w...>) {
            (
                [&] {
                  constexpr int f = read.fields[w];
                  if constexpr (f != padding) out[w] = value[f];
                }(),
                ...);
          }
          (std::make_index_sequence<read.words>{});
          float* const first =
              words + L::template first_word<std::uint32_t>(static_cast<std::uint32_t>(r), i, n);
          if constexpr (read.words == 4) {
            *reinterpret_cast<float4*>(first) = float4{out[0], out[1], out[2], out[3]};
          } else {
            *first = out[0];
          }
        }(),
        ...);
  }
  (std::make_index_sequence<L::reads.size()>{});
}

/// What a kernel is handed of a step.
struct Work {
  const float* __restrict__ from;
  float* __restrict__ to;
  float* __restrict__ acceleration;
  std::uint32_t bodies;
  std::uint32_t total;
  float softening_squared;
  float time_step;
  std::uint32_t begin;  ///< first body of a system that is computed,
  std::uint32_t end;    ///< and the one behind the last: a part of them where several GPUs share
};
inline Work work_of(const Step& step) {
  return {
      step.from,      step.to, step.acceleration, step.bodies, step.total(), step.softening_squared,
      step.time_step, 0,       step.bodies};
}

/// Ends a step for body i: moves it, or leaves its acceleration. First the velocity, then the
/// position by the new velocity (semi-implicit Euler, as in the report of Papadouli et al.).
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
