#include "nbody/gravity/sorted_groups.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <bit>
#include <cfloat>
#include <memory>

namespace strata::nbody {
namespace {

using tensor::group_bodies;
using tensor::Groups;
using tensor::Sphere;
using tensor::Survey;

constexpr unsigned block = 256;
constexpr unsigned lanes = 32;
constexpr unsigned whole_warp = 0xFFFFFFFFU;
constexpr unsigned most_parts = 64;

/// The bounding box of some bodies, and their mass.
struct Box {
  float low[3];
  float high[3];
  float mass;
};

__device__ Box nothing() {
  return {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}, 0};
}
__device__ void join(Box& box, const Box& other) {
  for (unsigned c = 0; c < 3; ++c) {
    box.low[c] = fminf(box.low[c], other.low[c]);
    box.high[c] = fmaxf(box.high[c], other.high[c]);
  }
  box.mass += other.mass;
}
/// Joins the boxes of all lanes; every lane gets the result.
__device__ Box joined(Box box) {
  for (unsigned step = lanes / 2; step > 0; step /= 2) {
    Box other;
    for (unsigned c = 0; c < 3; ++c) {
      other.low[c] = __shfl_xor_sync(whole_warp, box.low[c], step);
      other.high[c] = __shfl_xor_sync(whole_warp, box.high[c], step);
    }
    other.mass = __shfl_xor_sync(whole_warp, box.mass, step);
    join(box, other);
  }
  return box;
}

/// Bounding boxes of the parts of each system: one part per block.
__global__ void __launch_bounds__(block) survey(Work work, Box* boxes, Survey* surveys) {
  __shared__ Box of_warps[block / lanes];
  const std::uint32_t first = blockIdx.y * work.bodies;
  Box box = nothing();
  for (std::uint32_t i = blockIdx.x * block + threadIdx.x; i < work.bodies;
       i += gridDim.x * block) {
    const float4 body = read_posmass<Soaoas>(work.from, first + i, work.total);
    join(box, {{body.x, body.y, body.z}, {body.x, body.y, body.z}, body.w});
  }
  box = joined(box);
  if (threadIdx.x % lanes == 0) of_warps[threadIdx.x / lanes] = box;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (unsigned w = 1; w < block / lanes; ++w)
    join(box, of_warps[w]);
  boxes[blockIdx.y * gridDim.x + blockIdx.x] = box;
  if (blockIdx.x == 0) surveys[blockIdx.y] = {0, 0, 0};
}

/// Keeps the masses and resets the radii.
__global__ void __launch_bounds__(block) forget_radii(Survey* surveys, std::uint32_t systems) {
  const std::uint32_t system = blockIdx.x * block + threadIdx.x;
  if (system < systems) surveys[system] = {surveys[system].mass, 0, 0};
}

/// Keys: the system, whether the body is heavy, and its place on the curve. Heavy bodies are sorted
/// together, because a group with one is slow.
__global__ void __launch_bounds__(block)
    find_keys(Work work, const Box* boxes, unsigned parts, unsigned bits, Survey* surveys,
              std::uint32_t* keys, std::uint32_t* numbers) {
  __shared__ Box whole;
  if (threadIdx.x < lanes) {
    Box box = nothing();
    for (unsigned p = threadIdx.x; p < parts; p += lanes)
      join(box, boxes[blockIdx.y * parts + p]);
    box = joined(box);
    if (threadIdx.x == 0) whole = box;
    if (threadIdx.x == 0 && blockIdx.x == 0) surveys[blockIdx.y].mass = box.mass;
  }
  __syncthreads();
  const std::uint32_t mine = blockIdx.x * block + threadIdx.x;
  if (mine >= work.bodies) return;
  const std::uint32_t i = blockIdx.y * work.bodies + mine;
  const float4 body = read_posmass<Soaoas>(work.from, i, work.total);
  float edge = FLT_MIN;
  for (unsigned c = 0; c < 3; ++c)
    edge = fmaxf(edge, whole.high[c] - whole.low[c]);
  const std::uint32_t place =
      tensor::place_on_curve(tensor::cell_of(body.x, whole.low[0], edge, bits),
                             tensor::cell_of(body.y, whole.low[1], edge, bits),
                             tensor::cell_of(body.z, whole.low[2], edge, bits), bits);
  const bool heavy = body.w > tensor::mass_limit(whole.mass, static_cast<float>(work.bodies));
  keys[i] = (blockIdx.y << 1U | (heavy ? 1U : 0U)) << 3 * bits | place;
  numbers[i] = i;
}

template <class T, class Combine>
__device__ T of_warp(T value, Combine combine) {
  for (unsigned step = lanes / 2; step > 0; step /= 2)
    value = combine(value, __shfl_xor_sync(whole_warp, value, step));
  return value;
}
__device__ float sum_of_warp(float value) {
  return of_warp(value, [](float a, float b) { return a + b; });
}
__device__ float largest_of_warp(float value) {
  return of_warp(value, [](float a, float b) { return fmaxf(a, b); });
}

/// A warp writes the bodies of a group in sorted order, two per lane, and computes its sphere.
__global__ void __launch_bounds__(block) gather(Work work, Groups groups) {
  const unsigned lane = threadIdx.x % lanes;
  const std::uint32_t group = blockIdx.x * (block / lanes) + threadIdx.x / lanes;
  if (group >= groups.padded / group_bodies) return;
  const std::uint32_t begin = blockIdx.y * groups.padded + group * group_bodies;
  Survey* const survey = groups.surveys + blockIdx.y;
  float4 body[2];
  bool real[2];
  for (unsigned k = 0; k < 2; ++k) {
    const std::uint32_t mine = group * group_bodies + k * lanes + lane;
    real[k] = mine < work.bodies;
    const std::uint32_t i = groups.order[blockIdx.y * work.bodies + min(mine, work.bodies - 1)];
    body[k] = read_posmass<Soaoas>(work.from, i, work.total);
    if (!real[k]) body[k].w = 0;
    groups.bodies[begin + k * lanes + lane] = body[k];
    groups.accelerations[begin + k * lanes + lane] = massless();
  }
  // Relative to the first body, so that a system far from the origin loses no precision.
  const float origin[3] = {__shfl_sync(whole_warp, body[0].x, 0),
                           __shfl_sync(whole_warp, body[0].y, 0),
                           __shfl_sync(whole_warp, body[0].z, 0)};
  const float mass = sum_of_warp(body[0].w + body[1].w);
  const bool massless = !(mass > 0);
  float centre[3];
  for (unsigned c = 0; c < 3; ++c) {
    float sum = 0;
    for (unsigned k = 0; k < 2; ++k) {
      const float at = (c == 0 ? body[k].x : c == 1 ? body[k].y : body[k].z) - origin[c];
      sum = fmaf(massless ? 1.0F : body[k].w, at, sum);
    }
    centre[c] = origin[c] + sum_of_warp(sum) / (massless ? group_bodies : mass);
  }
  float radius = 0;
  for (const float4& b : body) {
    radius = fmaxf(radius,
                   tensor::distance_of({centre[0], centre[1], centre[2], 0}, {b.x, b.y, b.z, 0}));
  }
  radius = largest_of_warp(radius);
  const float limit = tensor::mass_limit(survey->mass, static_cast<float>(work.bodies));
  const bool heavy = !(largest_of_warp(fmaxf(body[0].w, body[1].w)) <= limit);
  if (lane > 0) return;
  if (real[0] && radius > 0 && radius <= FLT_MAX) {
    atomicAdd(&survey->exponents, ilogbf(radius));
    atomicAdd(&survey->groups, 1);
  }
  if (heavy) radius = INFINITY;
  const std::uint32_t at = begin / group_bodies;
  groups.spheres[at] = {centre[0], centre[1], centre[2], radius};
  groups.masses[at] = mass;
}

struct Arrays {
  DeviceBuffer<float4> bodies;
  DeviceBuffer<float4> accelerations;
  DeviceBuffer<float4> spheres;
  DeviceBuffer<float> masses;
  DeviceBuffer<Survey> surveys;
  DeviceBuffer<Box> boxes;
  DeviceBuffer<std::uint32_t> keys;
  DeviceBuffer<std::uint32_t> sorted_keys;
  DeviceBuffer<std::uint32_t> numbers;
  DeviceBuffer<std::uint32_t> order;
  DeviceBuffer<std::byte> for_sort;

  Arrays(std::size_t systems, std::size_t padded, std::size_t total, std::size_t sort_bytes)
      : bodies{systems * padded},
        accelerations{systems * padded},
        spheres{systems * padded / group_bodies},
        masses{spheres.size()},
        surveys{systems},
        boxes{systems * most_parts},
        keys{total},
        sorted_keys{total},
        numbers{total},
        order{total},
        for_sort{std::max(sort_bytes, std::size_t{1})} {}
};

}  // namespace

tensor::SortedGroups tensor::sorted_groups(std::uint32_t systems, std::uint32_t bodies) {
  const std::uint32_t total = systems * bodies;
  const unsigned bits = bits_of_curve(systems, bodies);
  const int key_bits = static_cast<int>(3 * bits + 1 + std::bit_width(systems - 1));
  // Without memory, CUB only returns the size that it needs.
  const auto sort = [=](void* memory, std::size_t& bytes, Arrays* in, cudaStream_t stream) {
    cuda_check(cub::DeviceRadixSort::SortPairs(
        memory, bytes, in ? in->keys.data() : nullptr, in ? in->sorted_keys.data() : nullptr,
        in ? in->numbers.data() : nullptr, in ? in->order.data() : nullptr, total, 0, key_bits,
        stream));
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes, nullptr, nullptr);
  const std::uint32_t padded = padded_for(bodies);
  const auto arrays = std::make_shared<Arrays>(systems, padded, total, bytes);
  const Groups groups{.bodies = arrays->bodies.data(),
                      .spheres = arrays->spheres.data(),
                      .masses = arrays->masses.data(),
                      .accelerations = arrays->accelerations.data(),
                      .order = arrays->order.data(),
                      .surveys = arrays->surveys.data(),
                      .padded = padded};
  const unsigned parts = std::min(most_parts, blocks_for(bodies, 4 * block));
  return {.groups = groups, .sort = [=](const Work& work, bool again, cudaStream_t stream) {
            if (again) {
              forget_radii<<<blocks_for(systems, block), block, 0, stream>>>(groups.surveys,
                                                                             systems);
            } else {
              survey<<<dim3{parts, systems}, block, 0, stream>>>(work, arrays->boxes.data(),
                                                                 groups.surveys);
              find_keys<<<dim3{blocks_for(bodies, block), systems}, block, 0, stream>>>(
                  work, arrays->boxes.data(), parts, bits, groups.surveys, arrays->keys.data(),
                  arrays->numbers.data());
              std::size_t given = arrays->for_sort.size();
              sort(arrays->for_sort.data(), given, arrays.get(), stream);
            }
            gather<<<dim3{blocks_for(padded / group_bodies, block / lanes), systems}, block, 0,
                     stream>>>(work, groups);
          }};
}

}  // namespace strata::nbody
