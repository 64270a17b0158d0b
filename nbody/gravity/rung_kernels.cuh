// Helpers of rungs on a GPU: kernels of the usual shape, a grid of blocks over the
// bodies, systems in y.
#pragma once

#include "harness/case/choices.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"
#include "nbody/gravity/bodies.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace strata::nbody {

inline constexpr unsigned usual_block = 256;  ///< threads
/// Bodies that a counted case with exact square roots can have: with 524,288, one pass of the
/// profiler takes longer than the time limit of a case (H100).
inline constexpr std::uint32_t most_counted_of_plain = 262'144;

/// A rung, prepared for a case.
struct RungKernel {
  /// Launches the step, and nothing else: no copies, no waiting. The caller checks for errors.
  std::function<void(const Step&, cudaStream_t)> launch;
  const void* kernel = nullptr;  ///< the main kernel
  unsigned threads = 0;          ///< per block
  /// Reciprocal square roots of a step, one per thread; 0 if they are not one per pair.
  double square_roots = 0;
  std::uint32_t most_counted = ~std::uint32_t{0};  ///< bodies, of cases that are counted
  /// For the last step; waits for it. `blocks`: of the main launch, if the problem alone does not
  /// determine their number.
  std::function<Facts()> facts = {};
};

/// Prepares a rung for a case: reads its axes. Throws Skipped if the device cannot do it.
using MakeRungKernel = RungKernel (*)(const Session&, const Problem&);

/// verified_step() of `bodies` in that layout, on the current device.
[[nodiscard]] Verification verify(const RungKernel& kernel, const std::string& layout,
                                  const Bodies& bodies, bool moves, std::span<const Pull> right);

/// Verifies a rung, then times or counts it.
void measure_rung(Session& session, const Rung& rung, MakeRungKernel make);

/// The reference in double precision on the current device: every body of a large problem, in a
/// second. Throws std::runtime_error if one of some randomly chosen bodies differs from the host's
/// reference by more than 1e-11 of the root mean square.
[[nodiscard]] std::vector<Pull> device_reference(const Bodies& bodies);

using DeviceSteps = StepBuffers<DeviceBuffer<float>>;
/// Restores the bodies and poisons the outputs. Waits.
inline void restore(DeviceSteps& steps, const Stream& stream) {
  constexpr int poison = 0xFF;  // all bits set: NaN
  cuda_check(cudaMemcpyAsync(steps.from.data(), steps.begin.data(), steps.from.size_bytes(),
                             cudaMemcpyDeviceToDevice, stream.get()));
  steps.to.poison(poison, stream.get());
  steps.acceleration.poison(poison, stream.get());
  stream.synchronize();
}

/// Blocks for `bodies`; the last one may not be full.
[[nodiscard]] constexpr std::uint32_t blocks_for(std::uint32_t bodies, std::uint32_t of_a_block) {
  return (bodies + of_a_block - 1) / of_a_block;
}

// A block's loop over the bodies of a system, tile by tile through shared memory (Nyland, Harris,
// Prins, GPU Gems 3, ch. 31; CUDA Handbook, Listing 14.4). Rungs differ in the loop body.

/// One body per thread. `block`: threads of a block and bodies of a tile. Every thread of a block
/// takes part in loading, also those beyond the last body; the last tile is padded with bodies
/// without mass. `in_part`: only bodies of the range of `work` are computed.
template <Layout L, class Math, unsigned block, unsigned unroll, bool moves, bool in_part = false>
__device__ __forceinline__ void walk_tiles(const Work& work, std::uint32_t system) {
  __shared__ float4 tile[block];
  const std::uint32_t first = system * work.bodies;
  const std::uint32_t mine = (in_part ? work.begin : 0) + blockIdx.x * block + threadIdx.x;
  const bool real = mine < (in_part ? work.end : work.bodies);
  const float4 me = real ? read_posmass<L>(work.from, first + mine, work.total) : massless();
  Acceleration pulls;
#pragma unroll 1
  for (std::uint32_t start = 0; start < work.bodies; start += block) {
    const std::uint32_t loaded = start + threadIdx.x;
    tile[threadIdx.x] =
        loaded < work.bodies ? read_posmass<L>(work.from, first + loaded, work.total) : massless();
    __syncthreads();
#pragma unroll unroll
    for (unsigned k = 0; k < block; ++k) {
      const float4 other = tile[k];  // one load, not one per use
      pull<Math>(pulls, me, other, work.softening_squared);
    }
    __syncthreads();
  }
  if (real) finish<L, moves>(work, first + mine, me, pulls);
}

/// A kernel with one body per thread, which loops over whole tiles of `block` bodies.
inline RungKernel tile_kernel(void (*kernel)(Work), unsigned block, unsigned square_roots,
                              const Problem& problem) {
  const double padded = static_cast<double>(blocks_for(problem.bodies, block)) * block;
  return {.launch =
              [kernel, block](const Step& step, cudaStream_t stream) {
                const dim3 grid{blocks_for(step.bodies, block), step.systems};
                kernel<<<grid, block, 0, stream>>>(work_of(step));
              },
          .kernel = reinterpret_cast<const void*>(kernel),
          .threads = block,
          .square_roots = problem.systems * padded * padded * square_roots,
          .most_counted = square_roots == 0 ? most_counted_of_plain : ~std::uint32_t{0}};
}

/// The same in the layout of the case, with the code that kernel.operator()<L, moves>() returns.
template <class Kernel>
RungKernel tile_kernel_in_layout(const Session& session, const Problem& problem,
                                 unsigned square_roots, Kernel kernel) {
  return with_layout_named(session.param("layout"), [&]<class L>() {
    const auto code = problem.moves() ? kernel.template operator()<L, true>()
                                      : kernel.template operator()<L, false>();
    return tile_kernel(code, usual_block, square_roots, problem);
  });
}

}  // namespace strata::nbody
