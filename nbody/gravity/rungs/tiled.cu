#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::tiled {
namespace {

const Rung story{
    .name = "tiled",
    .before = "naive",
    .question =
        "How much does it gain to read each body once per block, and to move the bodies in the "
        "same kernel?",
    .change = "tiles in shared memory; the move is fused into the kernel",
    .source =
        "Nyland, Harris, Prins, Fast N-Body Simulation with CUDA, GPU Gems 3, 2007, ch. 31; " +
        thessaly("Shared Memory Tiling & Kernel Fusion"),
    .expectation = "global loads are divided by the block size and replaced by shared loads",
    .bodies_of_block = usual_block,
    .launch_for_each_system = true,
    .threads_of_read = usual_block,
    .layouts = {"aos", "soa", "aoas", "soaoas", "aosoa32"}};

#if defined(__CUDACC__)
template <Layout L, bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work, std::uint32_t system) {
  walk_tiles<L, Plain, usual_block, 1, moves>(work, system);
}

RungKernel make(const Session& session, const Problem&) {
  return with_layout_named(session.param("layout"), [&]<class L>() -> RungKernel {
    return {.launch =
                [](const Step& step, cudaStream_t stream) {
                  const Work work = work_of(step);
                  const auto kernel = step.moves() ? step_of<L, true> : step_of<L, false>;
                  for (std::uint32_t system = 0; system < step.systems; ++system) {
                    kernel<<<blocks_for(step.bodies, usual_block), usual_block, 0, stream>>>(
                        work, system);
                  }
                },
            .kernel = reinterpret_cast<const void*>(step_of<L, false>),
            .threads = usual_block,
            .most_counted = most_counted_of_plain};
  });
}
#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::tiled
