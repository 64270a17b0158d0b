// Listing 14.4 of the CUDA Handbook as it is printed, but for the end of the inner loop: the text
// at hand has N where only blockDim.x bodies are in shared memory. The listing needs a number of
// bodies that is a multiple of the block; other systems are first copied to a buffer with bodies
// without mass at its end. A second kernel brings the forces into the form that is verified, and
// moves the bodies; both are timed.
#include "harness/cuda/occupancy.hpp"
#include "nbody/gravity/rung_kernels.cuh"

#include <algorithm>
#include <memory>

namespace strata::nbody::handbook_shared {
namespace {

__device__ __forceinline__ void body_body_interaction(float* fx, float* fy, float* fz, float x0,
                                                      float y0, float z0, float x1, float y1,
                                                      float z1, float mass1,
                                                      float softening_squared) {
  const float dx = x1 - x0;
  const float dy = y1 - y0;
  const float dz = z1 - z0;
  const float distance_squared = dx * dx + dy * dy + dz * dz + softening_squared;
  const float inverse = rsqrtf(distance_squared);
  const float s = mass1 * (inverse * inverse * inverse);
  *fx = dx * s;
  *fy = dy * s;
  *fz = dz * s;
}

template <unsigned unroll>
__global__ void compute(float* force, const float* pos_mass, float softening_squared, size_t n) {
  const auto* const pos_mass4 = reinterpret_cast<const float4*>(pos_mass);
  extern __shared__ float4 shared_pos_mass[];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    float acc[3] = {0};
    const float4 mine = pos_mass4[i];
#pragma unroll unroll
    for (int j = 0; j < n; j += blockDim.x) {
      shared_pos_mass[threadIdx.x] = pos_mass4[j + threadIdx.x];
      __syncthreads();
      for (size_t k = 0; k < blockDim.x; k++) {
        float fx, fy, fz;
        const float4 other = shared_pos_mass[k];
        body_body_interaction(&fx, &fy, &fz, mine.x, mine.y, mine.z, other.x, other.y, other.z,
                              other.w, softening_squared);
        acc[0] += fx;
        acc[1] += fy;
        acc[2] += fz;
      }
      __syncthreads();
    }
    force[3 * i + 0] = acc[0];
    force[3 * i + 1] = acc[1];
    force[3 * i + 2] = acc[2];
  }
}

/// Copies a system to the buffer of padded ones.
__global__ void pad(Work work, std::uint32_t first, float4* padded, std::uint32_t size) {
  const std::uint32_t i = blockIdx.x * usual_block + threadIdx.x;
  if (i >= size) return;
  padded[i] = i < work.bodies ? read_posmass<Soaoas>(work.from, first + i, work.total) : massless();
}

template <bool moves>
__global__ void unpack(Work work, std::uint32_t first, const float* force) {
  const std::uint32_t i = blockIdx.x * usual_block + threadIdx.x;
  if (i >= work.bodies) return;
  finish<Soaoas, moves>(work, first + i, read_posmass<Soaoas>(work.from, first + i, work.total),
                        {force[3 * i], force[3 * i + 1], force[3 * i + 2]});
}

RungKernel make(const Session& session, const Problem& problem) {
  const auto kernel = with_value<1, 2, 4, 8, 16, 32>(session.whole("unroll"),
                                                     [&]<unsigned n>() { return &compute<n>; });
  const auto code = reinterpret_cast<const void*>(kernel);
  constexpr unsigned tile_bytes = usual_block * sizeof(float4);
  const std::uint32_t blocks = blocks_for(problem.bodies, usual_block);
  const std::uint32_t padded = blocks * usual_block;
  const auto sms = static_cast<std::uint32_t>(device_attribute(cudaDevAttrMultiProcessorCount));
  const std::uint32_t grid = std::min(blocks, sms * resident_blocks(code, usual_block, tile_bytes));
  const auto force =
      std::make_shared<DeviceBuffer<float>>(std::size_t{3} * padded, Where::current());
  const auto copy = std::make_shared<DeviceBuffer<float4>>(std::size_t{padded}, Where::current());
  return {.launch =
              [=](const Step& step, cudaStream_t stream) {
                const Work work = work_of(step);
                for (std::uint32_t system = 0; system < step.systems; ++system) {
                  const std::uint32_t first = system * step.bodies;
                  const float* bodies = step.from + std::size_t{4} * first;
                  if (padded != step.bodies) {
                    pad<<<blocks, usual_block, 0, stream>>>(work, first, copy->data(), padded);
                    bodies = reinterpret_cast<const float*>(copy->data());
                  }
                  kernel<<<grid, usual_block, tile_bytes, stream>>>(force->data(), bodies,
                                                                    work.softening_squared, padded);
                  (step.moves() ? unpack<true> : unpack<false>)<<<blocks, usual_block, 0, stream>>>(
                      work, first, force->data());
                }
              },
          .kernel = code,
          .threads = usual_block,
          .square_roots = static_cast<double>(problem.systems) * padded * padded};
}

STRATA_RUNG("handbook_shared", make);

}  // namespace
}  // namespace strata::nbody::handbook_shared
