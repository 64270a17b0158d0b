// Bodies in groups of 64 that lie close together. Far groups meet on tensor cores
// (tensor_sums.cuh), near ones in single precision, as do groups with a heavy body. All of it is in
// the time: sorting, which groups are far, pieces, sums, and the way back to the bodies' own order.
// Sums are added atomically, in no fixed order: the last bits differ from run to run.
#include "nbody/gravity/tensor_sums.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/occupancy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#endif

namespace strata::nbody::tensor_cores {
namespace {

const Rung story{
    .name = "tensor_cores",
    .before = "pair_once",
    .question = "What do tensor cores bring to gravity, and what does it cost in precision?",
    .change = "distances and sums of far groups by mma of half-precision pieces",
    .source =
        "no published direct sum on tensor cores is known; pieces as in Markidis, Der Chien, "
        "Laure, Peng, Vetter, NVIDIA Tensor Core Programmability, IPDPSW 2018, V",
    .expectation =
        "5.75 instructions a pair instead of 17.75; then the roots are the limit, of "
        "which the special function unit finds seven of eight",
    .sum = Sum::halves,
    .approximate = true,
    .issue_slots = 2.875,
    .special_functions = 7.0 / 16,
    .axes = {numbers("ratio", "distance of groups over the sum of their radii that makes them far",
                     {"1.25", "1.5", "2"}, {"1.25", "1.5"})}};

#if defined(__CUDACC__)
using namespace tensor;

constexpr unsigned block = 256;
constexpr unsigned near_block = 128;
constexpr float no_radius = 0;

/// The centre of a set's groups; and, in the first set's block, the scale of the system.
__global__ void __launch_bounds__(lanes) find_centres(Pairs all, float4* centres, Scale* scales) {
  const std::uint32_t in_set = all.cut.tiles_of_set * warps;
  const std::uint32_t begin = blockIdx.x * in_set;
  const std::uint32_t real = blocks_for(all.bodies, group_bodies);
  const std::uint32_t end = min(begin + in_set, real);
  const float4* const spheres =
      all.groups.spheres + std::size_t{blockIdx.y} * all.cut.tiles * warps;
  const float4 origin = spheres[min(begin, real - 1)];
  float sum[4] = {0, 0, 0, 0};
  for (std::uint32_t g = begin + threadIdx.x; g < end; g += lanes) {
    const float3 at = scaled(spheres[g], origin, 1);
    sum[0] += at.x, sum[1] += at.y, sum[2] += at.z, sum[3] += 1;
  }
  for (float& s : sum)
    for (unsigned step = lanes / 2; step > 0; step /= 2)
      s += __shfl_xor_sync(whole_warp, s, step);
  if (threadIdx.x > 0) return;
  const float count = fmaxf(sum[3], 1);
  centres[blockIdx.y * all.cut.sets + blockIdx.x] = {
      origin.x + sum[0] / count, origin.y + sum[1] / count, origin.z + sum[2] / count, no_radius};
  if (blockIdx.x > 0) return;
  const Survey survey = all.groups.surveys[blockIdx.y];
  const float length = scale_for(survey.exponents, survey.groups);
  const float mass = mass_limit(survey.mass, static_cast<float>(all.bodies));
  scales[blockIdx.y] = {length, all.softening_squared * length * length, 1 / mass,
                        length * length * mass};
}

__device__ __forceinline__ Sphere sphere_of(const float4& s) {
  return {s.x, s.y, s.z, s.w};
}

/// A warp asks of a group and 32 others which of them are far. Of both it takes the tile that meets
/// the other's, so that what is far is far for both.
__global__ void __launch_bounds__(block) find_far(Pairs all, std::uint32_t* far) {
  const std::uint32_t groups = all.cut.tiles * warps;
  const std::uint32_t at = blockIdx.x * (block / lanes) + threadIdx.x / lanes;
  if (at >= groups * all.cut.words) return;
  std::uint32_t mine = at / all.cut.words;
  std::uint32_t other = at % all.cut.words * lanes + threadIdx.x % lanes;
  const std::size_t begin = std::size_t{blockIdx.y} * groups;
  bool is = false;
  if (other < groups && mine / warps != other / warps) {
    if (!meets(mine / warps, other / warps, all.cut.tiles)) {
      const std::uint32_t turned = mine;
      mine = other;
      other = turned;
    }
    const float4 centre =
        all.centres[blockIdx.y * all.cut.sets + mine / warps / all.cut.tiles_of_set];
    is = is_far(sphere_of(all.groups.spheres[begin + mine]),
                sphere_of(all.groups.spheres[begin + other]), sphere_of(centre), all.ratio,
                all.softening_squared, all.scales[blockIdx.y].length);
  }
  const unsigned bits = __ballot_sync(whole_warp, is);
  if (threadIdx.x % lanes == 0) far[begin * all.cut.words + at] = bits;
}

__global__ void __launch_bounds__(loaded) make_columns(Pairs all) {
  columns_of(all);
}

/// Two blocks of 128 registers a thread fill an SM.
__global__ void __launch_bounds__(threads, 2) sum_far(Pairs all) {
  sums_of_far(all);
}

/// Of a group a share of those that are not far, in single precision and from one side.
__global__ void __launch_bounds__(near_block) sum_near(Pairs all) {
  const unsigned lane = threadIdx.x % lanes;
  const std::uint32_t group = blockIdx.x * (near_block / lanes) + threadIdx.x / lanes;
  const std::uint32_t real = blocks_for(all.bodies, group_bodies);
  if (group >= real) return;
  const float4* const bodies = all.groups.bodies + std::size_t{blockIdx.y} * all.groups.padded;
  const std::uint32_t* const far =
      all.far + (std::size_t{blockIdx.y} * all.cut.tiles * warps + group) * all.cut.words;
  const std::uint32_t own = group * group_bodies + lane;
  const float4 me[2] = {bodies[own], bodies[own + lanes]};
  Acceleration total[2];
  unsigned seen = blockIdx.z;
  for (std::uint32_t word = 0; word < blocks_for(real, lanes); ++word) {
    const std::uint32_t left = real - word * lanes;
    unsigned near = ~far[word] & (left >= lanes ? whole_warp : (1U << left) - 1);
    for (; near != 0; near &= near - 1) {
      if (++seen < gridDim.z) continue;
      seen = 0;
      const float4* const others =
          bodies + (word * lanes + __ffs(static_cast<int>(near)) - 1) * group_bodies;
      Acceleration sum[2];
#pragma unroll 8
      for (unsigned k = 0; k < group_bodies; ++k) {
        const float4 other = __ldg(others + k);
        pull<Fast>(sum[0], me[0], other, all.softening_squared);
        pull<Fast>(sum[1], me[1], other, all.softening_squared);
      }
      for (unsigned k = 0; k < 2; ++k)
        total[k] = {total[k].x + sum[k].x, total[k].y + sum[k].y, total[k].z + sum[k].z};
    }
  }
  float4* const to = all.groups.accelerations + std::size_t{blockIdx.y} * all.groups.padded + own;
  for (unsigned k = 0; k < 2; ++k)
    add_to(to + k * lanes, total[k].x, total[k].y, total[k].z);
}

template <bool moves>
__global__ void __launch_bounds__(block) end_step(Work work, Groups groups) {
  const std::uint32_t mine = blockIdx.x * block + threadIdx.x;
  if (mine >= work.bodies) return;
  const std::size_t at = std::size_t{blockIdx.y} * groups.padded + mine;
  const float4 sum = groups.accelerations[at];
  finish<Soaoas, moves>(work, groups.order[blockIdx.y * work.bodies + mine], groups.bodies[at],
                        {sum.x, sum.y, sum.z});
}

/// A case: what its kernels are handed, and the memory of it.
struct Case {
  std::uint32_t systems;
  Pairs pairs;
  SortedGroups sorted;
  DeviceBuffer<Scale> scales;
  DeviceBuffer<float4> centres;
  DeviceBuffer<std::uint32_t> far;
  DeviceBuffer<uint4> distances;
  DeviceBuffer<uint2> moments;
  unsigned near_parts;

  Case(const Problem& problem, float ratio, const Cut& shape)
      : systems{problem.systems},
        pairs{.ratio = ratio, .bodies = problem.bodies, .cut = shape},
        sorted{sorted_groups(systems, problem.bodies)},
        scales{systems},
        centres{std::size_t{systems} * shape.sets},
        far{std::size_t{systems} * shape.tiles * warps * shape.words},
        distances{std::size_t{systems} * shape.sets * sorted.groups.padded * 2},
        moments{distances.size()},
        near_parts{std::clamp(32768U / (systems * shape.tiles * warps), 1U, 16U)} {
    pairs.groups = sorted.groups;
    pairs.scales = scales.data();
    pairs.centres = centres.data();
    pairs.far = far.data();
    pairs.distances = distances.data();
    pairs.moments = moments.data();
  }
  /// Of the last step: the share of its pairs that were computed in single precision.
  [[nodiscard]] double near_share() const {
    std::uint64_t pairs_far = 0;
    for (const std::uint32_t word : far.to_host())
      pairs_far += static_cast<unsigned>(std::popcount(word));
    const double groups = blocks_for(pairs.bodies, group_bodies);
    return 1 - static_cast<double>(pairs_far) / (systems * groups * groups);
  }
  void launch(const Step& step, cudaStream_t stream) {
    const Work work = work_of(step);
    const std::uint32_t groups = pairs.cut.tiles * warps;
    pairs.softening_squared = step.softening_squared;
    sorted.sort(work, stream);
    find_centres<<<dim3{pairs.cut.sets, systems}, lanes, 0, stream>>>(pairs, centres.data(),
                                                                      scales.data());
    find_far<<<dim3{blocks_for(groups * pairs.cut.words, block / lanes), systems}, block, 0,
               stream>>>(pairs, far.data());
    sum_near<<<dim3{blocks_for(groups, near_block / lanes), systems, near_parts}, near_block, 0,
               stream>>>(pairs);
    if (pairs.cut.tiles > 1) {
      make_columns<<<dim3{pairs.cut.tiles * loads, pairs.cut.sets, systems}, loaded, 0, stream>>>(
          pairs);
      const dim3 jobs{pairs.cut.tiles * blocks_for(pairs.cut.tiles / 2, pairs.cut.chunk), systems};
      sum_far<<<jobs, threads, sizeof(Shared), stream>>>(pairs);
    }
    const auto end = step.moves() ? end_step<true> : end_step<false>;
    end<<<dim3{blocks_for(pairs.bodies, block), systems}, block, 0, stream>>>(work, pairs.groups);
  }
};

RungKernel make(const Session& session, const Problem& problem) {
  if (device_attribute(cudaDevAttrComputeCapabilityMajor) < 8) {
    throw Skipped{"mma of 16 pieces of half precision needs compute capability 8.0"};
  }
  if (device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) <
      static_cast<int>(sizeof(Shared))) {
    throw Skipped{"a block needs " + std::to_string(sizeof(Shared)) + " bytes of shared memory"};
  }
  const auto* const kernel = reinterpret_cast<const void*>(sum_far);
  allow_shared_bytes(kernel, sizeof(Shared));
  const auto sms = static_cast<std::uint32_t>(device_attribute(cudaDevAttrMultiProcessorCount));
  const std::uint32_t at_once =
      sms * std::max(resident_blocks(kernel, threads, sizeof(Shared)), 1U);
  const auto made = std::make_shared<Case>(problem, std::stof(session.param("ratio")),
                                           cut_of(problem.systems, problem.bodies, at_once));
  return {.launch = [made](const Step& step, cudaStream_t stream) { made->launch(step, stream); },
          .kernel = kernel,
          .threads = threads,
          .facts =
              [made] {
                return Facts{{"near_share", made->near_share()}};
              }};
}
#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::tensor_cores
