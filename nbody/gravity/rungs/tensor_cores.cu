// Bodies are sorted into groups of 64 that are close together. Pairs of far groups are computed on
// tensor cores (tensor_sums.cuh); pairs of near groups, and those with a heavy body, in single
// precision. The time includes everything: sorting, the search for far groups, pieces, sums, and
// the return to the original order. Sums are accumulated atomically, in no fixed order, so the last
// bits differ from run to run.
#include "harness/cuda/occupancy.hpp"
#include "nbody/gravity/far_groups.cuh"
#include "nbody/gravity/tensor_step.cuh"
#include "nbody/gravity/tensor_sums.cuh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>

namespace strata::nbody::tensor_cores {
namespace {

using namespace tensor;

constexpr unsigned block = 256;
constexpr float no_radius = 0;

/// The centre of a set's groups. The first set's block also computes the scale of the system.
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

__global__ void __launch_bounds__(threads) find_far(Pairs all, std::uint32_t* far) {
  far_of_tile(all, far);
}

__global__ void __launch_bounds__(loaded) make_columns(Pairs all) {
  columns_of(all);
}

/// Far groups come first, because their blocks take long; blocks of near groups then fill the SMs
/// that run out of them. Two blocks with 128 registers per thread fill an SM.
__global__ void __launch_bounds__(threads, 2) sum_pairs(Pairs all) {
  if (blockIdx.x < all.far_blocks) {
    sums_of_far(all);
  } else {
    sums_of_near(all, blockIdx.x - all.far_blocks);
  }
}

template <bool moves>
__global__ void __launch_bounds__(block) end_step(Work work, Groups groups, OtherSums others) {
  const std::uint32_t mine = blockIdx.x * block + threadIdx.x;
  if (mine >= work.bodies) return;
  const std::uint32_t i = groups.order[blockIdx.y * work.bodies + mine];
  const std::uint32_t of_system = i - blockIdx.y * work.bodies;
  if (of_system < work.begin || of_system >= work.end) return;
  const std::size_t at = std::size_t{blockIdx.y} * groups.padded + mine;
  float4 sum = groups.accelerations[at];
  for (std::uint32_t k = 0; k < others.count; ++k) {
    const float4 more = others.sums[k][at];
    sum = {sum.x + more.x, sum.y + more.y, sum.z + more.z, 0};
  }
  finish<Soaoas, moves>(work, i, groups.bodies[at], {sum.x, sum.y, sum.z});
}

/// A case: the arguments of its kernels, and their memory.
struct Case {
  std::uint32_t systems;
  std::size_t sort_every;
  Pairs pairs;
  SortedGroups sorted;
  DeviceBuffer<Scale> scales;
  DeviceBuffer<float4> centres;
  DeviceBuffer<std::uint32_t> far;
  DeviceBuffer<uint4> distances;
  DeviceBuffer<uint2> moments;

  Case(const StepOptions& of, const Cut& cut)
      : systems{of.systems},
        sort_every{of.sort_every},
        pairs{.ratio = of.ratio, .bodies = of.bodies, .cut = cut},
        sorted{sorted_groups(systems, of.bodies)},
        scales{systems},
        centres{std::size_t{systems} * cut.sets},
        far{std::size_t{systems} * cut.tiles * warps * cut.words},
        distances{std::size_t{systems} * std::max(cut.own_sets(), 1U) * sorted.groups.padded * 2},
        moments{distances.size()} {
    const std::uint32_t own_groups = std::max(cut.own_tiles(), 1U) * warps;
    pairs.far_blocks = cut.own_tiles() * blocks_for(cut.tiles / 2, cut.chunk);
    pairs.near_parts = std::clamp(32768U / (systems * own_groups), 1U, 16U);
    cuda_check(cudaMemset(far.data(), 0xFF, far.size_bytes()));
    pairs.groups = sorted.groups;
    pairs.scales = scales.data();
    pairs.centres = centres.data();
    pairs.far = far.data();
    pairs.distances = distances.data();
    pairs.moments = moments.data();
  }
  /// The share of pairs that one GPU computed in single precision in the last step.
  [[nodiscard]] double near_share() const {
    const std::uint32_t groups = blocks_for(pairs.bodies, group_bodies);
    const std::vector<std::uint32_t> words = far.to_host();
    double near = 0;
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (at / pairs.cut.words % (pairs.cut.tiles * warps) >= groups) continue;
      const auto first = static_cast<std::uint32_t>(at % pairs.cut.words * lanes);
      near += std::popcount(~words[at] & groups_there(first, groups));
    }
    const double all = static_cast<double>(systems) * groups;
    return (2 * near - all) / (all * groups);
  }
  void add_pairs(const Step& step, cudaStream_t stream) {
    const std::uint32_t groups = pairs.cut.own_tiles() * warps;
    pairs.softening_squared = step.softening_squared;
    sorted.sort(work_of(step), step.number % sort_every != 0, stream);
    if (groups == 0) return;  // fewer tiles than shares
    find_centres<<<dim3{pairs.cut.sets, systems}, lanes, 0, stream>>>(pairs, centres.data(),
                                                                      scales.data());
    // Enough warps to fill the device once, if there are that many words.
    const std::uint32_t parts =
        std::clamp(8192 / (systems * groups), 1U, blocks_for(words_of_half(pairs.cut), warps));
    find_far<<<dim3{pairs.cut.own_tiles(), systems, parts}, threads, 0, stream>>>(pairs,
                                                                                  far.data());
    if (pairs.cut.tiles > 1) {
      make_columns<<<dim3{pairs.cut.tiles * loads, pairs.cut.own_sets(), systems}, loaded, 0,
                     stream>>>(pairs);
    }
    const std::uint32_t near_blocks = blocks_for(groups * pairs.near_parts, warps);
    sum_pairs<<<dim3{pairs.far_blocks + near_blocks, systems}, threads, sizeof(Shared), stream>>>(
        pairs);
  }
  void end(const Work& work, const OtherSums& others, cudaStream_t stream) const {
    const auto kernel = work.to != nullptr ? end_step<true> : end_step<false>;
    kernel<<<dim3{blocks_for(pairs.bodies, block), systems}, block, 0, stream>>>(work, pairs.groups,
                                                                                 others);
  }
};

std::shared_ptr<Case> made_case(const StepOptions& of) {
  if (device_attribute(cudaDevAttrComputeCapabilityMajor) < 8) {
    throw Skipped{"mma.m16n8k16 of half precision needs compute capability 8.0"};
  }
  if (device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) <
      static_cast<int>(sizeof(Shared))) {
    throw Skipped{"a block needs " + std::to_string(sizeof(Shared)) + " bytes of shared memory"};
  }
  const auto* const kernel = reinterpret_cast<const void*>(sum_pairs);
  allow_shared_bytes(kernel, sizeof(Shared));
  const auto sms = static_cast<std::uint32_t>(device_attribute(cudaDevAttrMultiProcessorCount));
  const std::uint32_t at_once =
      sms * std::max(resident_blocks(kernel, threads, sizeof(Shared)), 1U);
  return std::make_shared<Case>(of, cut_of(of.systems, of.bodies, at_once, of.gpus, of.rank));
}

RungKernel make(const Session& session, const Problem& problem) {
  const auto made = made_case(options_of(session, problem));
  const auto launch = [made](const Step& step, cudaStream_t stream) {
    made->add_pairs(step, stream);
    made->end(work_of(step), {}, stream);
  };
  return {.launch = launch,
          .kernel = reinterpret_cast<const void*>(sum_pairs),
          .threads = threads,
          .facts = [made] {
            return Facts{{"near_share", made->near_share()}};
          }};
}

STRATA_RUNG("tensor_cores", make);

}  // namespace
}  // namespace strata::nbody::tensor_cores

namespace strata::nbody::tensor {
SharedStep shared_step(const StepOptions& options) {
  const auto made = tensor_cores::made_case(options);
  return {[made](const Step& step, cudaStream_t stream) { made->add_pairs(step, stream); },
          [made](const Work& work, const OtherSums& others, cudaStream_t stream) {
            made->end(work, others, stream);
          },
          made->pairs.groups.accelerations};
}
}  // namespace strata::nbody::tensor
