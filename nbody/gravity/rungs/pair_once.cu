// A warp holds a tile of 32 × per_thread bodies and processes groups of 32 other bodies, one per
// lane. At each turn a lane computes the pairs of its per_thread bodies with its one other body,
// then hands that body, with the reaction on it, to the next lane. After the last turn the reaction
// is added to memory atomically, in no fixed order, so the last bits differ from run to run.
// pair_ring.hpp defines which warp processes which pairs.
//
// One force m_i m_j / r³ d serves both sides and is divided by each body's mass at the end, so
// every mass must be above 0.
#include "harness/cuda/occupancy.hpp"
#include "nbody/gravity/pair_ring.hpp"
#include "nbody/gravity/rung_kernels.cuh"

#include <memory>

namespace strata::nbody::pair_once {
namespace {

using namespace pair_ring;

constexpr unsigned warps = 4;
constexpr unsigned block = 256;

/// Reads the four words separately: the same coordinates of two float4 would be in the same
/// register bank, which costs a few percent (rung register_banks).
__device__ __forceinline__ float4 read_apart(const Work& work, std::uint32_t i) {
  const float* const words = work.from + Soaoas::first_word(0U, i, work.total);
  return {words[0], words[1], words[2], words[3]};
}

/// Blocks per SM: as many as there are registers for.
constexpr unsigned blocks_of_sm(unsigned per_thread) {
  return per_thread <= 4 ? 6 : per_thread <= 8 ? 5 : per_thread <= 12 ? 4 : 3;
}

/// Adds the forces of this step to `forces`, which has one entry per body.
template <unsigned per_thread>
__global__ void __launch_bounds__(warps* lanes, blocks_of_sm(per_thread))
    meet(Work work, Divisor tiles, Divisor turns_of_tile, Shares shares, float4* forces) {
  const Ring ring{static_cast<std::uint32_t>(tiles.by), per_thread};
  const unsigned lane = threadIdx.x % lanes;
  const std::uint32_t warp = blockIdx.x * warps + threadIdx.x / lanes;
  if (warp >= shares.warps) return;
  const std::uint64_t begin = shares.begin_of(warp);
  auto left = static_cast<std::uint32_t>(shares.begin_of(warp + 1) - begin);
  const auto [tile_of_all, turn_of_tile] = turns_of_tile.divide(begin);
  const auto [system, tile_of_system] = tiles.divide(tile_of_all);
  auto at = static_cast<std::uint32_t>(turn_of_tile);
  auto tile = static_cast<std::uint32_t>(tile_of_system);
  auto first = static_cast<std::uint32_t>(system) * work.bodies;
#pragma unroll 1
  while (left > 0) {
    const std::uint32_t stop = min(at + left, static_cast<std::uint32_t>(turns_of_tile.by));
    left -= stop - at;
    const std::uint32_t own = tile * (lanes * per_thread) + lane;
    float4 me[per_thread];
    Acceleration force[per_thread];
#pragma unroll
    for (unsigned b = 0; b < per_thread; ++b) {
      const std::uint32_t mine = own + b * lanes;
      me[b] = mine < work.bodies ? read_posmass<Soaoas>(work.from, first + mine, work.total)
                                 : massless();
    }
#pragma unroll 1
    while (at < stop) {
      const Turns turns = ring.turns_from(tile, at);
      const std::uint32_t count = min(turns.end - turns.begin, stop - at);
      at += count;
      const std::uint32_t met = turns.group * lanes + (lane + turns.begin) % lanes;
      float4 other = met < work.bodies ? read_apart(work, first + met) : massless();
      other.w *= turns.weight;
      Acceleration reaction;
#pragma unroll 1
      for (std::uint32_t turn = 0; turn < count; ++turn) {
#pragma unroll
        for (unsigned b = 0; b < per_thread; ++b) {
          const float dx = other.x - me[b].x;
          const float dy = other.y - me[b].y;
          const float dz = other.z - me[b].z;
          const float squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, work.softening_squared)));
          const float inverse = fast_rsqrt(squared);
          const float strength = (me[b].w * inverse) * (other.w * (inverse * inverse));
          force[b].x = fmaf(strength, dx, force[b].x);
          force[b].y = fmaf(strength, dy, force[b].y);
          force[b].z = fmaf(strength, dz, force[b].z);
          reaction.x = fmaf(-strength, dx, reaction.x);
          reaction.y = fmaf(-strength, dy, reaction.y);
          reaction.z = fmaf(-strength, dz, reaction.z);
        }
        other = {turned(other.x, lane), turned(other.y, lane), turned(other.z, lane),
                 turned(other.w, lane)};
        reaction = {turned(reaction.x, lane), turned(reaction.y, lane), turned(reaction.z, lane)};
      }
      const std::uint32_t now = turns.group * lanes + (lane + turns.begin + count) % lanes;
      if (now < work.bodies) add_to(forces + first + now, reaction.x, reaction.y, reaction.z);
    }
#pragma unroll
    for (unsigned b = 0; b < per_thread; ++b) {
      const std::uint32_t mine = own + b * lanes;
      if (mine < work.bodies) add_to(forces + first + mine, force[b].x, force[b].y, force[b].z);
    }
    at = 0;
    if (++tile == ring.tiles) tile = 0, first += work.bodies;
  }
}

/// Resets the forces to 0 for the next step.
template <bool moves>
__global__ void __launch_bounds__(block) end_step(Work work, float4* forces) {
  const std::uint32_t i = blockIdx.x * block + threadIdx.x;
  if (i >= work.total) return;
  const float4 me = read_posmass<Soaoas>(work.from, i, work.total);
  const float4 force = forces[i];
  forces[i] = massless();
  finish<Soaoas, moves>(work, i, me, {force.x / me.w, force.y / me.w, force.z / me.w});
}

template <unsigned per_thread>
RungKernel kernel_for(const Problem& problem) {
  const auto* const kernel = reinterpret_cast<const void*>(meet<per_thread>);
  const auto sms = static_cast<std::uint32_t>(device_attribute(cudaDevAttrMultiProcessorCount));
  const std::uint32_t at_once = sms * std::max(resident_blocks(kernel, warps * lanes), 1U) * warps;
  const Ring ring{blocks_for(problem.bodies, lanes * per_thread), per_thread};
  const Divisor tiles{ring.tiles};
  const Divisor turns_of_tile{ring.turns_of_tile()};
  const std::uint64_t turns = std::uint64_t{problem.systems} * ring.tiles * ring.turns_of_tile();
  const Shares shares = shares_of(turns, at_once);
  const std::vector<float4> none(problem.total());
  const auto forces = std::make_shared<DeviceBuffer<float4>>(std::span{none}, Where::current());
  return {.launch =
              [=](const Step& step, cudaStream_t stream) {
                const Work work = work_of(step);
                meet<per_thread><<<blocks_for(shares.warps, warps), warps * lanes, 0, stream>>>(
                    work, tiles, turns_of_tile, shares, forces->data());
                const auto end = step.moves() ? end_step<true> : end_step<false>;
                end<<<blocks_for(work.total, block), block, 0, stream>>>(work, forces->data());
              },
          .kernel = kernel,
          .threads = warps * lanes,
          // The counts also show the divisions at the end: a reciprocal for each number of a body.
          .square_roots = static_cast<double>(turns) * lanes * per_thread,
          .facts =
              [shares] {
                return Facts{{"blocks", std::int64_t{blocks_for(shares.warps, warps)}}};
              }};
}

RungKernel make(const Session& session, const Problem& problem) {
  return with_value<4, 8, 12, 16>(session.whole("per_thread"),
                                  [&]<unsigned n>() { return kernel_for<n>(problem); });
}

STRATA_RUNG("pair_once", make);

}  // namespace
}  // namespace strata::nbody::pair_once
