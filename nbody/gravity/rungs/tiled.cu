#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::tiled {
namespace {

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

STRATA_RUNG("tiled", make);

}  // namespace
}  // namespace strata::nbody::tiled
