// A loop with several bodies per thread in registers, so that one read from shared memory serves
// them all. Rungs differ in the loop body.
//
// A block has 32 × per_thread bodies; its warps divide the source bodies, each with a separate
// tile, and add up their results. There is no barrier in the loop. Sums over 256 source bodies are
// added to totals in shared memory.
#pragma once

#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::several {

inline constexpr unsigned lanes = 32;
inline constexpr unsigned tiles_of_a_sum = 8;

/// A body in a tile. `turned`: its mass is first, so that a coordinate is in another register bank
/// than the same coordinate of a body that was read as a float4.
template <bool turned>
__device__ __forceinline__ float4 put(const float4& body) {
  if constexpr (turned) return {body.w, body.x, body.y, body.z};
  return body;
}
template <bool turned>
__device__ __forceinline__ float4 got(const float4& held) {
  if constexpr (turned) return {held.y, held.z, held.w, held.x};
  return held;
}

template <unsigned per_thread, unsigned warps, bool moves, bool turned>
__device__ __forceinline__ void walk(const Work& work) {
  constexpr unsigned sums = 3 * per_thread;
  constexpr unsigned unroll = per_thread >= 8 ? 4 : 8;
  __shared__ float4 tiles[warps][lanes];
  __shared__ float totals[sums][warps][lanes];
  const unsigned lane = threadIdx.x % lanes;
  const unsigned warp = threadIdx.x / lanes;
  const std::uint32_t first = blockIdx.y * work.bodies;
  const std::uint32_t group = work.begin + blockIdx.x * (lanes * per_thread);
  const auto read = [&](std::uint32_t i) {
    return i < work.bodies ? read_posmass<Soaoas>(work.from, first + i, work.total) : massless();
  };
  float4 me[per_thread];
  Acceleration pulls[per_thread];
#pragma unroll
  for (unsigned b = 0; b < per_thread; ++b) {
    me[b] = read(group + b * lanes + lane);
#pragma unroll
    for (unsigned c = 0; c < 3; ++c)
      totals[3 * b + c][warp][lane] = 0;
  }
  std::uint32_t start = warp * lanes;
  float4 next = read(start + lane);
  unsigned walked = 0;
  const auto keep = [&] {
#pragma unroll
    for (unsigned b = 0; b < per_thread; ++b) {
      totals[3 * b][warp][lane] += pulls[b].x;
      totals[3 * b + 1][warp][lane] += pulls[b].y;
      totals[3 * b + 2][warp][lane] += pulls[b].z;
      pulls[b] = {};
    }
  };
#pragma unroll 1
  while (start < work.bodies) {
    tiles[warp][lane] = put<turned>(next);
    start += warps * lanes;
    next = read(start + lane);  // in flight while this tile is processed
    __syncwarp();
#pragma unroll unroll
    for (unsigned k = 0; k < lanes; ++k) {
      const float4 other = got<turned>(tiles[warp][k]);
#pragma unroll
      for (unsigned b = 0; b < per_thread; ++b)
        pull<Fast>(pulls[b], me[b], other, work.softening_squared);
    }
    __syncwarp();
    if (++walked % tiles_of_a_sum == 0) keep();
  }
  keep();
  __syncthreads();
#pragma unroll 1
  for (unsigned b = warp; b < per_thread; b += warps) {
    const std::uint32_t i = group + b * lanes + lane;
    if (i >= work.end) continue;
    float sum[3] = {0, 0, 0};
    for (unsigned c = 0; c < 3; ++c) {
      for (unsigned w = 0; w < warps; ++w)
        sum[c] += totals[3 * b + c][w][lane];
    }
    finish<Soaoas, moves>(work, first + i, read(i), {sum[0], sum[1], sum[2]});
  }
}

/// The kernel step_of.operator()<per_thread, warps, moves>() for the values of the case's axes.
template <class StepOf>
RungKernel kernel_of(const Session& session, const Problem& problem, StepOf step_of) {
  const auto per_thread = static_cast<unsigned>(session.whole("per_thread"));
  const auto warps = static_cast<unsigned>(session.whole("warps"));
  void (*const kernel)(Work) = with_value<1, 2, 4, 8>(per_thread, [&]<unsigned n>() {
    return with_value<1, 2, 4, 8>(warps, [&]<unsigned w>() {
      return problem.moves() ? step_of.template operator()<n, w, true>()
                             : step_of.template operator()<n, w, false>();
    });
  });
  const unsigned bodies = lanes * per_thread;  // per block
  return {.launch =
              [=](const Step& step, cudaStream_t stream) {
                const dim3 grid{blocks_for(step.bodies, bodies), step.systems};
                kernel<<<grid, warps * lanes, 0, stream>>>(work_of(step));
              },
          .kernel = reinterpret_cast<const void*>(kernel),
          .threads = warps * lanes,
          .square_roots = static_cast<double>(problem.systems) *
                          blocks_for(problem.bodies, bodies) * bodies *
                          blocks_for(problem.bodies, lanes) * lanes};
}

}  // namespace strata::nbody::several
