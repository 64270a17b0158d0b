// What the file of a rung on a GPU needs: the words of its story, and, for its code, kernels of the
// usual shape, a grid of blocks over the bodies, systems in y. Without nvcc the story alone is
// compiled.
#pragma once

#include "nbody/gravity/ladder.hpp"

#if defined(__CUDACC__)

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "nbody/gravity/step.hpp"
#include "nbody/gravity/tile.cuh"
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

#endif
