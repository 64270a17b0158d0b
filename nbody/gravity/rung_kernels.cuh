// What the file of a rung on a GPU needs: the words of its story, and, for its code, kernels of the
// usual shape, a grid of blocks over the bodies, systems in y. Without nvcc the story alone is
// compiled.
#pragma once

#include "nbody/gravity/ladder.hpp"

#if defined(__CUDACC__)

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"
#include "nbody/gravity/step.hpp"
#include "nbody/gravity/tile.cuh"
#include "nbody/gravity/with_choice.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace strata::nbody {

using DeviceSteps = StepBuffers<DeviceBuffer<float>>;
/// Restores the bodies and poisons what results overwrite. Waits.
inline void restore(DeviceSteps& steps, const Stream& stream) {
  constexpr int poison = 0xFF;  // all bits set: not a number
  cuda_check(cudaMemcpyAsync(steps.from.data(), steps.begin.data(), steps.from.size_bytes(),
                             cudaMemcpyDeviceToDevice, stream.get()));
  steps.to.poison(poison, stream.get());
  steps.acceleration.poison(poison, stream.get());
  stream.synchronize();
}

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
              },
          .kernel = reinterpret_cast<const void*>(kernel),
          .threads = block,
          .square_roots = problem.systems * padded * padded * square_roots};
}

/// The same in the layout of the case: kernel.operator()<L, moves>() is its code.
template <class Kernel>
RungKernel tile_kernel_in_layout(const Session& session, const Problem& problem, unsigned block,
                                 unsigned square_roots, Kernel kernel) {
  return with_layout_named(session.param("layout"), [&]<class L>() {
    const auto code = problem.moves() ? kernel.template operator()<L, true>()
                                      : kernel.template operator()<L, false>();
    return tile_kernel(code, block, square_roots, problem);
  });
}

}  // namespace strata::nbody

/// Registers a rung on a GPU: its story, and its MakeRungKernel, which exists under nvcc alone.
#define STRATA_RUNG(story, make)                                                                \
  STRATA_RUNG_STORY(story);                                                                     \
  [[maybe_unused]] static const bool strata_rung_enrolled =                                     \
      ::strata::nbody::rung_kernels().emplace(story().name, make).second &&                     \
      ::strata::detail::enrol(::strata::nbody::detail::declare<story>, ::strata::Backend::cuda, \
                              [](::strata::Session& session) {                                  \
                                ::strata::nbody::measure_rung(session, story(), make);          \
                              })
#else
#define STRATA_RUNG(story, make) STRATA_RUNG_STORY(story)
#endif
