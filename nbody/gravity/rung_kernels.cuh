// Climbers of the usual shape: a grid of blocks over the bodies, systems in y.
#pragma once

#include "harness/cuda/cuda_check.hpp"
#include "nbody/gravity/bodies.cuh"
#include "nbody/gravity/step.hpp"
#include "nbody/gravity/with_choice.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace strata::nbody {

/// Blocks that `bodies` make up, the last one perhaps not full.
[[nodiscard]] inline std::uint32_t blocks_for(std::uint32_t bodies, std::uint32_t of_a_block) {
  return (bodies + of_a_block - 1) / of_a_block;
}

/// A kernel whose blocks have one body a thread and walk over whole tiles of `block` bodies.
inline RungKernel tile_kernel(void (*kernel)(Work), unsigned block, unsigned square_roots,
                              const Problem& problem) {
  const double padded = static_cast<double>(blocks_for(problem.bodies, block)) * block;
  return {.launch =
              [kernel, block](const Step& step, cudaStream_t stream) {
                const dim3 grid{blocks_for(step.bodies, block), step.systems};
                kernel<<<grid, block, 0, stream>>>(work_of(step));
                cuda_check(cudaGetLastError());
              },
          .kernel = reinterpret_cast<const void*>(kernel),
          .threads = block,
          .square_roots = problem.systems * padded * padded * square_roots};
}

}  // namespace strata::nbody
