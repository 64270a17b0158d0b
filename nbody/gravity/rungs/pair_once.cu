// A warp holds a tile of 32 × per_thread bodies and walks over 32 others at a time, one a lane. At
// each of 32 turns a lane meets its per_thread bodies with its one, and hands that one, with the
// reaction upon it, to the next lane. After 32 turns the reaction is added to memory atomically, in
// no fixed order: the last bits differ from run to run.
//
// Which warp computes which pair: the tiles stand in a ring, and each meets itself (without
// reactions) and the half of the ring that follows it; of an even number of tiles, those in the
// first half also the one that is opposite. One force m_i m_j / r³ d serves both sides, and the own
// mass is divided out at the end, so every body needs a mass above 0.
#include "nbody/gravity/rung_kernels.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/occupancy.hpp"

#include <cmath>
#include <limits>
#include <memory>
#endif

namespace strata::nbody::pair_once {
namespace {

const Rung story{
    .name = "pair_once",
    .before = "register_banks",
    .question = "What does it bring to compute each pair once, for both of its bodies?",
    .change = "Newton's third law: partners go round the warp and take their reactions along",
    .source = "no published GPU figure is known; Newton's third law on CPUs: Handbook 14.1",
    .expectation = "17 instructions a pair instead of 26; shuffles and atomic additions on top",
    .sum = Sum::blocks,
    .approximate = true,
    .issue_slots = 8.875,
    .axes = {
        numbers("per_thread", "bodies of a thread", {"4", "8", "12", "16"}, {"4", "8", "16"})}};

#if defined(__CUDACC__)
constexpr unsigned lanes = 32;
constexpr unsigned warps = 4;
constexpr unsigned block = 256;

/// The ring of tiles of a system, and how its work is cut.
struct Ring {
  std::uint32_t tiles = 0;
  std::uint32_t others = 0;  ///< groups of 32 that a tile meets at the most, its own included
  std::uint32_t piece = 0;   ///< groups that one warp walks over
  std::uint32_t pieces = 0;  ///< of a tile's walk
  std::uint32_t padded = 0;  ///< bodies, filled up to whole tiles
};

/// Cuts each tile's walk into so many pieces that the last round of warps is a full one, as far as
/// that can be had; a piece costs a group more, for its begin and its end.
Ring ring_for(const Problem& problem, unsigned per_thread, std::uint32_t warps_at_once) {
  const std::uint32_t tile = lanes * per_thread;
  Ring ring;
  ring.tiles = blocks_for(problem.bodies, tile);
  ring.padded = ring.tiles * tile;
  ring.others = (1 + ring.tiles / 2) * per_thread;
  double best = std::numeric_limits<double>::infinity();
  for (std::uint32_t pieces = warps; pieces <= ring.others && pieces <= 256; pieces += warps) {
    const std::uint32_t piece = blocks_for(ring.others, pieces);
    const double jobs = static_cast<double>(problem.systems) * ring.tiles * pieces;
    const double cost = std::ceil(jobs / warps_at_once) * (piece + 1);
    if (cost >= best) continue;
    best = cost;
    ring.piece = piece;
    ring.pieces = blocks_for(ring.others, piece);
  }
  if (ring.piece == 0) {  // fewer groups than a block has warps
    ring.piece = 1;
    ring.pieces = ring.others;
  }
  return ring;
}

/// Groups of 32 that tile t meets.
__host__ __device__ inline std::uint32_t groups_of(std::uint32_t tiles, unsigned per_thread,
                                                   std::uint32_t t) {
  const bool meets_opposite = tiles % 2 == 1 || t < tiles / 2;
  return (1 + tiles / 2 - (meets_opposite ? 0 : 1)) * per_thread;
}

template <Layout L>
__global__ void __launch_bounds__(block)
    gather(Work work, std::uint32_t padded, float4* bodies, float4* turned_bodies, float4* forces) {
  const std::uint32_t mine = blockIdx.x * block + threadIdx.x;
  if (mine >= padded) return;
  const std::uint32_t at = blockIdx.y * padded + mine;
  const float4 body = mine < work.bodies
                          ? read_posmass<L>(work.from, blockIdx.y * work.bodies + mine, work.total)
                          : nobody();
  bodies[at] = body;
  turned_bodies[at] = {body.w, body.x, body.y, body.z};
  forces[at] = nobody();
}

/// Blocks that an SM shall hold: fewer where a thread has more bodies, lest they spill.
constexpr unsigned blocks_of_sm(unsigned per_thread) {
  return per_thread <= 4 ? 6 : per_thread <= 8 ? 4 : 3;
}

template <unsigned per_thread>
__global__ void __launch_bounds__(warps* lanes, blocks_of_sm(per_thread))
    meet(const float4* __restrict__ bodies, const float4* __restrict__ turned_bodies,
         float4* forces, Ring ring, float softening_squared) {
  const unsigned lane = threadIdx.x % lanes;
  const std::uint32_t tile = blockIdx.x;
  const std::uint32_t piece = blockIdx.y * warps + threadIdx.x / lanes;
  bodies += std::size_t{blockIdx.z} * ring.padded;
  turned_bodies += std::size_t{blockIdx.z} * ring.padded;
  forces += std::size_t{blockIdx.z} * ring.padded;
  const std::uint32_t groups = groups_of(ring.tiles, per_thread, tile);
  const std::uint32_t begin = piece * ring.piece;
  const std::uint32_t end = min(begin + ring.piece, groups);
  if (begin >= end) return;

  const std::uint32_t own = tile * (lanes * per_thread) + lane;
  float4 me[per_thread];
  Acceleration force[per_thread];
#pragma unroll
  for (unsigned b = 0; b < per_thread; ++b)
    me[b] = bodies[own + b * lanes];
#pragma unroll 1
  for (std::uint32_t g = begin; g < end; ++g) {
    std::uint32_t met = tile + g / per_thread;
    if (met >= ring.tiles) met -= ring.tiles;
    const std::uint32_t at = (met * per_thread + g % per_thread) * lanes + lane;
    // Its mass stands first: of two float4 read alike, the same coordinates would lie in the same
    // register bank, which costs some percent (rung register_banks).
    const float4 turned_body = turned_bodies[at];
    float4 other{turned_body.y, turned_body.z, turned_body.w, turned_body.x};
    Acceleration reaction;
#pragma unroll 1
    for (unsigned turn = 0; turn < lanes; ++turn) {
#pragma unroll
      for (unsigned b = 0; b < per_thread; ++b) {
        const float dx = other.x - me[b].x;
        const float dy = other.y - me[b].y;
        const float dz = other.z - me[b].z;
        const float squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
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
    // Within a tile every pair is met from both sides.
    if (g >= per_thread) add_to(forces + at, reaction.x, reaction.y, reaction.z);
  }
#pragma unroll
  for (unsigned b = 0; b < per_thread; ++b)
    add_to(forces + own + b * lanes, force[b].x, force[b].y, force[b].z);
}

template <Layout L, bool moves>
__global__ void __launch_bounds__(block)
    end_step(Work work, std::uint32_t padded, const float4* __restrict__ bodies,
             const float4* __restrict__ forces) {
  const std::uint32_t mine = blockIdx.x * block + threadIdx.x;
  if (mine >= work.bodies) return;
  const std::uint32_t at = blockIdx.y * padded + mine;
  const float4 me = bodies[at];
  const float4 force = forces[at];
  finish<L, moves>(work, blockIdx.y * work.bodies + mine, me,
                   {force.x / me.w, force.y / me.w, force.z / me.w});
}

struct Arrays {
  explicit Arrays(std::size_t count) : bodies{count}, turned{count}, forces{count} {}
  DeviceBuffer<float4> bodies;
  DeviceBuffer<float4> turned;  ///< the same, mass first
  DeviceBuffer<float4> forces;
};

std::uint32_t warps_at_once(const void* kernel) {
  const auto sms = static_cast<std::uint32_t>(device_attribute(cudaDevAttrMultiProcessorCount));
  return sms * std::max(resident_blocks(kernel, warps * lanes), 1U) * warps;
}

RungKernel make(const Session& session, const Problem& problem) {
  return with_value<4, 8, 12, 16>(session.whole("per_thread"), [&]<unsigned n>() {
    return with_layout_named(session.param("layout"), [&]<class L>() -> RungKernel {
      const auto* const kernel = reinterpret_cast<const void*>(meet<n>);
      const Ring ring = ring_for(problem, n, warps_at_once(kernel));
      auto arrays = std::make_shared<Arrays>(std::size_t{problem.systems} * ring.padded);
      double met = 0;
      for (std::uint32_t t = 0; t < ring.tiles; ++t)
        met += groups_of(ring.tiles, n, t);
      return {.launch =
                  [ring, arrays](const Step& step, cudaStream_t stream) {
                    const Work work = work_of(step);
                    const dim3 all{blocks_for(ring.padded, block), step.systems};
                    gather<L><<<all, block, 0, stream>>>(work, ring.padded, arrays->bodies.data(),
                                                         arrays->turned.data(),
                                                         arrays->forces.data());
                    const dim3 jobs{ring.tiles, blocks_for(ring.pieces, warps), step.systems};
                    meet<n><<<jobs, warps * lanes, 0, stream>>>(
                        arrays->bodies.data(), arrays->turned.data(), arrays->forces.data(), ring,
                        step.softening_squared);
                    const auto end = step.moves() ? end_step<L, true> : end_step<L, false>;
                    end<<<all, block, 0, stream>>>(work, ring.padded, arrays->bodies.data(),
                                                   arrays->forces.data());
                  },
              .kernel = kernel,
              .threads = warps * lanes,
              // the divisions at the end: a reciprocal for each number of a body, found by counting
              .square_roots = problem.systems * met * lanes * (lanes * n)};
    });
  });
}
#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::pair_once
