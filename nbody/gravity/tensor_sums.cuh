// The pairs of far groups on tensor cores: distances, sums for one side, and, transposed, sums for
// the other. tensor_pieces.hpp explains the numbers.
//
// A warp holds the 64 bodies of a group in registers, as the rows of four products. It processes 16
// other bodies at a time, as their columns. Each block of 16 × 16 pairs takes
//   two mma                      r² of 16 × 8 pairs each, from 16 pieces per body
//   eight roots per lane         r⁻³ − f₀: seven by the special function unit, one by multiply-adds
//   one mma                      sums for the rows: r⁻³ times the moments of the columns
//   four movmatrix and one mma   sums for the columns
// A lane's part of one product's result is its part of the next one's operands. The code
// interleaves the distances of the next block, the roots of this one and the sums of the previous
// one, so that none waits for another; ptxas still moves them within an iteration of the inner
// loop.
#pragma once

#include "nbody/gravity/sorted_groups.cuh"

namespace strata::nbody::tensor {

inline constexpr unsigned lanes = 32;
inline constexpr unsigned warps = groups_of_tile;
inline constexpr unsigned threads = warps * lanes;
inline constexpr unsigned products = group_bodies / 16;
inline constexpr unsigned loaded = 256;  ///< bodies of another tile at a time
inline constexpr unsigned loads = tile_bodies / loaded;
inline constexpr unsigned steps = loaded / 16;  ///< in which a warp processes them
inline constexpr unsigned whole_warp = 0xFFFFFFFFU;

/// The inputs for the pieces of a system's bodies, and for accelerations from their sums.
struct Scale {
  float length;
  float softening_squared;  ///< scaled
  float mass;
  float sum;
};

/// The arguments of the kernels.
struct Pairs {
  Groups groups;
  const Scale* scales;    ///< of each system
  const float4* centres;  ///< of each set of tiles, to whose centre their coordinates are relative
  const std::uint32_t*
      far;           ///< a bit for each group with which a group interacts: whether in tensor form
  uint4* distances;  ///< pieces of all bodies for each centre, in the order of the lanes
  uint2* moments;
  float softening_squared;
  float ratio;               ///< argument of is_far()
  std::uint32_t bodies;      ///< of a system
  std::uint32_t far_blocks;  ///< of a system in this share, before those with near groups
  std::uint32_t near_parts;  ///< warps that share the near groups of one group
  Cut cut;

  /// The start of the pieces of a system's bodies, for the centre of a set of this share.
  __device__ std::size_t pieces_of(std::uint32_t system, std::uint32_t set) const {
    return (std::size_t{system} * cut.own_sets() + set / cut.shares) * groups.padded * 2;
  }
};

__device__ __forceinline__ float3 scaled(const float4& body, const float4& centre, float length) {
  return {(body.x - centre.x) * length, (body.y - centre.y) * length, (body.z - centre.z) * length};
}
__device__ __forceinline__ Sphere sphere_of(const float4& s) {
  return {s.x, s.y, s.z, s.w};
}
__device__ __forceinline__ std::uint32_t packed(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}

// ---- Instructions -------------------------------------------------------------------------------

/// Expected: one MUFU.RSQ, in its place.
__device__ __forceinline__ float root_in_place(float x) {
  float y;
  asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
/// Expected: one HMMA.16816.F32.
__device__ __forceinline__ void multiply_add(float (&sum)[4], const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply(float* product, const std::uint32_t (&a)[4],
                                         std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%10,%10,%10};"
      : "=f"(product[0]), "=f"(product[1]), "=f"(product[2]), "=f"(product[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.0F));
}
/// Of 8 × 8 half-precision numbers. Expected: one MOVM.16.MT88.
__device__ __forceinline__ std::uint32_t transposed(std::uint32_t numbers) {
  std::uint32_t turned;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(numbers));
  return turned;
}
__device__ __forceinline__ std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}
template <int bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
               :
               : "r"(shared_address(to)), "l"(from), "n"(bytes)
               : "memory");
}
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_all;" : : : "memory");
}
#endif

// ---- A group and up to four others --------------------------------------------------------------

/// A group as rows: its pieces, its moments, and the sums for its bodies.
struct Rows {
  std::uint32_t pieces[products][4];
  uint2 moments[products];
  float sums[products][2];  ///< of bodies g and g + 8 of a product, lane 4 g + c: moment c
};

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
/// Interacts with the groups among 256 bodies whose bit is set in `which`, bit 4 g for group g.
///
/// f0: of group g in lane 4 g. own_moment: the row group's moment lane % 4, for the part of f₀.
/// to_columns: sums for the columns, four moments per body; 64 words beyond them are overwritten.
__device__ __forceinline__ void meet(Rows& rows, const uint4* distances, const uint2* moments,
                                     float* to_columns, unsigned lane, unsigned which, float f0,
                                     float own_moment) {
  constexpr int last = products - 1;
  constexpr int by_multiply_adds = 1;  // roots, of eight
  float sums[products][4] = {};
  float columns[4] = {0, 0, 0, 0};
  float squares[8];
  std::uint32_t strengths[4] = {0, 0, 0, 0};  // of the previous block
  distances += lane;
  moments += lane;
  to_columns += lane;
  int step = __ffs(static_cast<int>(which)) - 1;
  which &= which - 1;
  float* next_to = to_columns + step * 64;
  int at = step * 32;
  uint4 column = distances[at];
  uint2 moment_before{0, 0};
  uint2 moment = moments[at];
  multiply(squares, rows.pieces[0], column.x, column.y);
  multiply(squares + 4, rows.pieces[0], column.z, column.w);
  float* to = to_columns + loaded * 4;  // the first step has no previous sums: to the spare words
  float base_before = 0;
  float base = 0;
  bool more = true;
  do {
    more = which != 0;
    const float f = __shfl_sync(whole_warp, f0, step);
    base = f * own_moment;
    const int next_step = more ? __ffs(static_cast<int>(which)) - 1 : step;
    which &= which - 1;
#pragma unroll
    for (int i = 3; i >= 0; --i) {
      const int next_at = i > 0 ? at + 32 : next_step * 32;
      uint4 next_column;
#pragma unroll
      for (int r = 0; r < static_cast<int>(products); ++r) {
        float next[8];
        float root[8];
        float strength[8];
        std::uint32_t turned[4];
        if (r == 0) next_column = distances[next_at];
        const uint4 with = r < last ? column : next_column;
        const std::uint32_t(&row)[4] = rows.pieces[r < last ? r + 1 : 0];
        const int before = r > 0 ? r - 1 : last;
        const uint2 of_before = r > 0 ? moment : moment_before;
        multiply(next, row, with.x, with.y);
        root[1] = root_in_place(squares[1]);
        turned[0] = transposed(strengths[0]);
        root[2] = root_in_place(squares[2]);
        turned[1] = transposed(strengths[2]);
        root[3] = root_in_place(squares[3]);
        multiply(next + 4, row, with.z, with.w);
        root[4] = root_in_place(squares[4]);
        turned[2] = transposed(strengths[1]);
        root[5] = root_in_place(squares[5]);
        turned[3] = transposed(strengths[3]);
        root[6] = root_in_place(squares[6]);
        multiply_add(sums[before], strengths, of_before.x, of_before.y);
        root[7] = root_in_place(squares[7]);
        if (before == 0) {
          multiply(columns, turned, rows.moments[before].x, rows.moments[before].y);
        } else {
          multiply_add(columns, turned, rows.moments[before].x, rows.moments[before].y);
        }
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          strength[k] = k < by_multiply_adds ? inverse_cube(squares[k], f)
                                             : fmaf(root[k] * root[k], root[k], -f);
        }
        if (r == 0) {
          to[0] = columns[0] + (columns[1] + base_before);
          to[32] = columns[2] + (columns[3] + base_before);
          to = next_to;
          next_to += 64;
          base_before = base;
        }
#pragma unroll
        for (int k = 0; k < 4; ++k)
          strengths[k] = packed(strength[2 * k], strength[2 * k + 1]);
#pragma unroll
        for (int k = 0; k < 8; ++k)
          squares[k] = next[k];
      }
      column = next_column;
      moment_before = moment;
      moment = moments[next_at];
      at = next_at;
    }
    step = next_step;
    next_to = to_columns + step * 64;
  } while (more);
  const std::uint32_t turned[4] = {transposed(strengths[0]), transposed(strengths[2]),
                                   transposed(strengths[1]), transposed(strengths[3])};
  multiply_add(sums[last], strengths, moment_before.x, moment_before.y);
  multiply_add(columns, turned, rows.moments[last].x, rows.moments[last].y);
  to[0] = columns[0] + (columns[1] + base_before);
  to[32] = columns[2] + (columns[3] + base_before);
#pragma unroll
  for (unsigned r = 0; r < products; ++r) {
    rows.sums[r][0] += sums[r][0] + sums[r][1];
    rows.sums[r][1] += sums[r][2] + sums[r][3];
  }
}
#endif

// ---- Tiles --------------------------------------------------------------------------------------

/// The source bodies of a block, double-buffered.
struct Shared {
  uint4 distances[2][steps * lanes];
  uint2 moments[2][steps * lanes];
  float4 bodies[2][loaded];
  float4 spheres[2][loaded / group_bodies];
  float masses[2][loaded / group_bodies];
  float sums[2][warps][loaded * 4 + 64];  ///< for the source bodies, one set per warp
};

/// Makes rows of a tile's bodies, one group per warp. `buffer`: 12 words per body.
__device__ __forceinline__ void load_rows(Rows& rows, const float4* bodies, const float4& centre,
                                          const Scale& scale, std::uint32_t* buffer) {
  constexpr unsigned words = 12;
  const unsigned lane = threadIdx.x % lanes;
  const unsigned g = lane / 4;
  const unsigned t = lane % 4;
  for (unsigned i = threadIdx.x; i < tile_bodies; i += threads) {
    const float4 body = bodies[i];
    const float3 at = scaled(body, centre, scale.length);
    const auto distance = distance_pieces<true>(at.x, at.y, at.z, 0);
    const auto moment = moment_pieces(at.x, at.y, at.z, body.w * scale.mass);
#pragma unroll
    for (unsigned k = 0; k < 8; ++k)
      buffer[i * words + k] = packed(distance[2 * k], distance[2 * k + 1]);
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      buffer[i * words + 8 + k] = packed(moment[2 * k], moment[2 * k + 1]);
  }
  __syncthreads();
  const auto* const halves = reinterpret_cast<const unsigned short*>(buffer) + 16;
  const auto two = [&](unsigned body) {
    const unsigned low = halves[body * 2 * words + g];
    return low | unsigned{halves[(body + 1) * 2 * words + g]} << 16U;
  };
#pragma unroll
  for (unsigned r = 0; r < products; ++r) {
    const unsigned first = (threadIdx.x / lanes * products + r) * 16;
    for (unsigned k = 0; k < 4; ++k)
      rows.pieces[r][k] = buffer[(first + g + k % 2 * 8) * words + k / 2 * 4 + t];
    rows.moments[r] = {two(first + 2 * t), two(first + 2 * t + 8)};
    rows.sums[r][0] = rows.sums[r][1] = 0;
  }
}

/// Makes columns of 256 bodies, for the centre of a set of tiles: blocks in x, sets in y, systems
/// in z. Columns that no tile of the set needs are left out.
__device__ __forceinline__ void columns_of(const Pairs& all) {
  const std::uint32_t set = blockIdx.y * all.cut.shares + all.cut.share;
  const std::uint32_t ahead =
      (blockIdx.x / loads + all.cut.tiles - set * all.cut.tiles_of_set) % all.cut.tiles;
  if (ahead > all.cut.tiles / 2 + all.cut.tiles_of_set) return;
  __shared__ uint4 distances[steps * lanes];
  __shared__ __align__(16) uint2 moments[steps * lanes];
  const float4 centre = all.centres[blockIdx.z * all.cut.sets + set];
  const Scale scale = all.scales[blockIdx.z];
  const std::uint32_t first = blockIdx.x * loaded;
  const float4 body =
      all.groups.bodies[std::size_t{blockIdx.z} * all.groups.padded + first + threadIdx.x];
  const float3 at = scaled(body, centre, scale.length);
  const auto distance = distance_pieces<false>(at.x, at.y, at.z, scale.softening_squared);
  const auto moment = moment_pieces(at.x, at.y, at.z, body.w * scale.mass);
  // Lane 4 g + t holds pieces 2 t, 2 t + 1 and 8 + 2 t, 9 + 2 t of columns g and 8 + g, and moment
  // g of columns 2 t, 2 t + 1, 8 + 2 t and 9 + 2 t.
  const unsigned step = threadIdx.x / 16;
  const unsigned g = threadIdx.x % 8;
  const unsigned upper = threadIdx.x / 8 % 2;
  auto* const to = reinterpret_cast<uint2*>(distances + step * lanes + g * 4) + upper;
#pragma unroll
  for (unsigned t = 0; t < 4; ++t) {
    to[2 * t] = {packed(distance[2 * t], distance[2 * t + 1]),
                 packed(distance[8 + 2 * t], distance[9 + 2 * t])};
  }
  auto* const into = reinterpret_cast<__half*>(moments + step * lanes + g / 2) + upper * 2 + g % 2;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k)
    into[k * 16] = __float2half_rn(moment[k]);
  __syncthreads();
  const std::size_t out = all.pieces_of(blockIdx.z, set) + std::size_t{first} * 2;
  for (unsigned k = 0; k < 2; ++k)
    all.distances[out + k * loaded + threadIdx.x] = distances[k * loaded + threadIdx.x];
  reinterpret_cast<uint4*>(all.moments + out)[threadIdx.x] =
      reinterpret_cast<const uint4*>(moments)[threadIdx.x];
}

/// A block has a tile, and interacts with up to `chunk` of those that follow it. Systems are rows.
__device__ __forceinline__ void sums_of_far(const Pairs& all) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const unsigned lane = threadIdx.x % lanes;
  const unsigned warp = threadIdx.x / lanes;
  const unsigned t = lane % 4;
  const unsigned met = lane / 4 % 4;  // the group whose f₀ this lane computes
  const std::uint32_t own_tiles = all.cut.own_tiles();
  const std::uint32_t tile = all.cut.own_tile(blockIdx.x % own_tiles);
  const std::uint32_t first = blockIdx.x / own_tiles * all.cut.chunk + 1;
  std::uint32_t end = min(first + all.cut.chunk, all.cut.tiles / 2 + 1);
  if (end == all.cut.tiles / 2 + 1 && all.cut.tiles % 2 == 0 && tile >= all.cut.tiles / 2) --end;
  if (tile >= all.cut.tiles || first >= end) return;

  const std::uint32_t system = blockIdx.y;
  const std::size_t begin = std::size_t{system} * all.groups.padded;
  const float4* const bodies = all.groups.bodies + begin;
  float4* const accelerations = all.groups.accelerations + begin;
  const float4* const spheres = all.groups.spheres + begin / group_bodies;
  const float* const masses = all.groups.masses + begin / group_bodies;
  const Scale scale = all.scales[system];
  const std::uint32_t set = tile / all.cut.tiles_of_set;
  const float4 centre = all.centres[system * all.cut.sets + set];
  const std::size_t pieces = all.pieces_of(system, set);
  const std::uint32_t group = tile * warps + warp;
  const std::uint32_t* const far =
      all.far + (begin / group_bodies + group) * std::size_t{all.cut.words};

  const auto place = [&](std::uint32_t n) {
    std::uint32_t other = tile + n / loads;
    if (other >= all.cut.tiles) other -= all.cut.tiles;
    return other * tile_bodies + n % loads * loaded;
  };
  const auto fetch = [&](std::uint32_t n) {
    const unsigned to = n % 2;
    const std::uint32_t from = place(n);
    const uint4* const distances = all.distances + pieces + from * std::size_t{2};
    copy_async<16>(&shared.distances[to][threadIdx.x], distances + threadIdx.x);
    copy_async<16>(&shared.distances[to][threadIdx.x + loaded], distances + threadIdx.x + loaded);
    const auto* const moments =
        reinterpret_cast<const uint4*>(all.moments + pieces + from * std::size_t{2});
    copy_async<16>(reinterpret_cast<uint4*>(shared.moments[to]) + threadIdx.x,
                   moments + threadIdx.x);
    copy_async<16>(&shared.bodies[to][threadIdx.x], bodies + from + threadIdx.x);
    if (threadIdx.x < loaded / group_bodies) {
      const std::uint32_t other = from / group_bodies + threadIdx.x;
      copy_async<16>(&shared.spheres[to][threadIdx.x], spheres + other);
      copy_async<4>(&shared.masses[to][threadIdx.x], masses + other);
    }
  };
  const auto far_groups = [&](std::uint32_t n) {  // returns four bits
    const std::uint32_t other = place(n) / group_bodies;
    return far[other / 32] >> other % 32 & 0xFU;
  };
  // Moment `t` of a group relative to the centre: m x, m y, m z or m.
  const auto moment = [&](const float4& sphere, float mass) {
    const float3 at = scaled(sphere, centre, scale.length);
    return scale.mass * mass * (t == 3 ? 1.0F : t == 0 ? at.x : t == 1 ? at.y : at.z);
  };

  fetch(first * loads);
  Rows rows;
  load_rows(rows, bodies + tile * tile_bodies, centre, scale,
            reinterpret_cast<std::uint32_t*>(shared.sums));
  const float4 own = spheres[group];
  const float own_moment = moment(own, masses[group]);
  float base = 0;
  unsigned next_far = far_groups(first * loads);
  wait_for_copies();
  __syncthreads();
  if (first * loads + 1 < end * loads) fetch(first * loads + 1);
#pragma unroll 1
  for (std::uint32_t n = first * loads; n < end * loads; ++n) {
    const unsigned in = n % 2;
    float* const sums = shared.sums[in][warp];
    const unsigned groups = next_far;
    if (n + 1 < end * loads) next_far = far_groups(n + 1);
    const float4 other = shared.spheres[in][met];
    const float3 between = scaled(other, own, scale.length);
    const float root = fast_rsqrt(
        fmaf(between.x, between.x,
             fmaf(between.y, between.y, fmaf(between.z, between.z, scale.softening_squared))));
    const float f0 = (groups >> met & 1U) != 0 ? root * root * root : 0;
    if (f0 != 0) base = fmaf(f0, moment(other, shared.masses[in][met]), base);
    const unsigned which =
        (groups & 1U) | (groups & 2U) << 3U | (groups & 4U) << 6U | (groups & 8U) << 9U;
    if (which != 0)
      meet(rows, shared.distances[in], shared.moments[in], sums, lane, which, f0, own_moment);
    for (unsigned left = ~which & 0x1111U; left != 0; left &= left - 1) {
      float4* const none = reinterpret_cast<float4*>(sums) + (__ffs(left) - 1) * 16 + lane;
      none[0] = none[32] = massless();
    }
    wait_for_copies();
    __syncthreads();
    const float3 at = scaled(shared.bodies[in][threadIdx.x], centre, scale.length);
    if (n + 2 < end * loads) fetch(n + 2);
    float4 sum = massless();
#pragma unroll
    for (unsigned w = 0; w < warps; ++w) {
      const float4 some = reinterpret_cast<const float4*>(shared.sums[in][w])[threadIdx.x];
      sum = {sum.x + some.x, sum.y + some.y, sum.z + some.z, sum.w + some.w};
    }
    add_to(accelerations + place(n) + threadIdx.x, scale.sum * fmaf(-at.x, sum.w, sum.x),
           scale.sum * fmaf(-at.y, sum.w, sum.y), scale.sum * fmaf(-at.z, sum.w, sum.z));
  }
  base += __shfl_xor_sync(whole_warp, base, 4);  // the four groups of a step
  base += __shfl_xor_sync(whole_warp, base, 8);
#pragma unroll
  for (unsigned r = 0; r < products; ++r) {
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
      const std::uint32_t i = group * group_bodies + r * 16 + k * 8 + lane / 4;
      const float sum = rows.sums[r][k] + base;
      const float strength = __shfl_sync(whole_warp, sum, static_cast<int>(lane | 3U));
      const float3 at = scaled(bodies[i], centre, scale.length);
      const float mine = t == 0 ? at.x : t == 1 ? at.y : at.z;
      if (t < 3) {
        atomicAdd(reinterpret_cast<float*>(accelerations + i) + t,
                  scale.sum * fmaf(-mine, strength, sum));
      }
    }
  }
#endif
}

// ---- Near groups --------------------------------------------------------------------------------

/// A warp's group interacts with another, which is near or itself, in single precision, each pair
/// once. A lane has two bodies of each side; those of the other side, with the reactions on them,
/// rotate around the warp.
__device__ __forceinline__ void meet_near(Acceleration (&total)[2], const float4 (&me)[2],
                                          const float4* others, float4* accelerations,
                                          unsigned lane, bool itself, float softening_squared) {
  float4 other[2] = {others[0], others[lanes]};
  Acceleration sum[2];
  Acceleration reaction[2];
#pragma unroll 4
  for (unsigned turn = 0; turn < lanes; ++turn) {
    float4 next[2];
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
      next[k] = {turned(other[k].x, lane), turned(other[k].y, lane), turned(other[k].z, lane),
                 turned(other[k].w, lane)};
      pull_both(sum[0], reaction[k], me[0], other[k], softening_squared);
      pull_both(sum[1], reaction[k], me[1], other[k], softening_squared);
      reaction[k] = {turned(reaction[k].x, lane), turned(reaction[k].y, lane),
                     turned(reaction[k].z, lane)};
    }
    other[0] = next[0];
    other[1] = next[1];
  }
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {
    total[k] = {total[k].x + sum[k].x, total[k].y + sum[k].y, total[k].z + sum[k].z};
    // Within a group every pair is computed from both sides.
    if (!itself) add_to(accelerations + k * lanes, reaction[k].x, reaction[k].y, reaction[k].z);
  }
}

/// A warp takes a share of the near groups of its group.
__device__ __forceinline__ void sums_of_near(const Pairs& all, std::uint32_t near_block) {
  const unsigned lane = threadIdx.x % lanes;
  const std::uint32_t job = near_block * warps + threadIdx.x / lanes;
  const std::uint32_t group = all.cut.own_group(job / all.near_parts);
  const std::uint32_t real = blocks_for(all.bodies, group_bodies);
  if (group >= real) return;
  const std::size_t begin = std::size_t{blockIdx.y} * all.groups.padded;
  const float4* const bodies = all.groups.bodies + begin + lane;
  float4* const accelerations = all.groups.accelerations + begin + lane;
  const std::uint32_t* const far =
      all.far + (begin / group_bodies + group) * std::size_t{all.cut.words};
  const float4 me[2] = {bodies[group * group_bodies], bodies[group * group_bodies + lanes]};
  Acceleration total[2];
  std::uint32_t skip = job % all.near_parts;
  for (std::uint32_t first = 0; first < real; first += lanes * lanes) {  // one word per lane
    const std::uint32_t word = first / lanes + lane;
    const unsigned there = groups_there(word * lanes, real);
    const unsigned mine = there != 0 ? ~far[word] & there : 0;
    for (unsigned some = __ballot_sync(whole_warp, mine != 0); some != 0; some &= some - 1) {
      const int of_lane = __ffs(static_cast<int>(some)) - 1;
      unsigned near = __shfl_sync(whole_warp, mine, of_lane);
      for (; near != 0; near &= near - 1) {
        if (skip-- > 0) continue;
        skip = all.near_parts - 1;
        const std::uint32_t met = first + static_cast<unsigned>(of_lane) * lanes +
                                  static_cast<unsigned>(__ffs(static_cast<int>(near)) - 1);
        meet_near(total, me, bodies + met * group_bodies, accelerations + met * group_bodies, lane,
                  met == group, all.softening_squared);
      }
    }
  }
#pragma unroll
  for (unsigned k = 0; k < 2; ++k)
    add_to(accelerations + group * group_bodies + k * lanes, total[k].x, total[k].y, total[k].z);
}

}  // namespace strata::nbody::tensor
