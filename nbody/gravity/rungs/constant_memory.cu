// Constant memory holds 4032 bodies. A step therefore consists of a copy and a launch for each such
// piece of a system, and accelerations are accumulated in global memory.
#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::constant_memory {
namespace {

constexpr unsigned unroll = 32;
constexpr std::uint32_t piece = 65536 / sizeof(float4) - 64;  // 1 KiB for the kernel's constants

__constant__ float4 others[piece];

__global__ void __launch_bounds__(usual_block)
    add(Work work, std::uint32_t first, std::uint32_t count, bool fresh) {
  const std::uint32_t mine = blockIdx.x * usual_block + threadIdx.x;
  if (mine >= work.bodies) return;
  const std::uint32_t i = first + mine;
  const float4 me = read_posmass<Soaoas>(work.from, i, work.total);
  Acceleration pulls;
#pragma unroll unroll
  for (std::uint32_t j = 0; j < count; ++j) {
    const float4 other = others[j];
    pull<Fast>(pulls, me, other, work.softening_squared);
  }
  float* const x = work.acceleration + i;
  x[0] = fresh ? pulls.x : x[0] + pulls.x;
  x[work.total] = fresh ? pulls.y : x[work.total] + pulls.y;
  x[2 * work.total] = fresh ? pulls.z : x[2 * work.total] + pulls.z;
}

__global__ void __launch_bounds__(usual_block) move(Work work) {
  const std::uint32_t i = blockIdx.x * usual_block + threadIdx.x;
  if (i >= work.total) return;
  const float4 me = read_posmass<Soaoas>(work.from, i, work.total);
  finish<Soaoas, true>(work, i, me,
                       {work.acceleration[i], work.acceleration[work.total + i],
                        work.acceleration[2 * work.total + i]});
}

RungKernel make(const Session&, const Problem& problem) {
  return {.launch =
              [](const Step& step, cudaStream_t stream) {
                const Work work = work_of(step);
                for (std::uint32_t system = 0; system < step.systems; ++system) {
                  const std::uint32_t first = system * step.bodies;
                  for (std::uint32_t at = 0; at < step.bodies; at += piece) {
                    const std::uint32_t count = std::min(piece, step.bodies - at);
                    cuda_check(cudaMemcpyToSymbolAsync(
                        others, work.from + 4 * std::size_t{first + at}, count * sizeof(float4), 0,
                        cudaMemcpyDeviceToDevice, stream));
                    add<<<blocks_for(step.bodies, usual_block), usual_block, 0, stream>>>(
                        work, first, count, at == 0);
                  }
                }
                if (!step.moves()) return;
                move<<<blocks_for(step.total(), usual_block), usual_block, 0, stream>>>(work);
              },
          .kernel = reinterpret_cast<const void*>(add),
          .threads = usual_block,
          .square_roots = problem.interactions()};
}

STRATA_RUNG("constant_memory", make);

}  // namespace
}  // namespace strata::nbody::constant_memory
