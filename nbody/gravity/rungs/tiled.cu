// Rung tiled: what does it bring to read each body once for a whole block, into shared memory, and
// to move the bodies in the same kernel?
#include "nbody/gravity/rung_kernels.cuh"
#include "nbody/gravity/tile.cuh"

namespace strata::nbody::tiled {
namespace {

constexpr unsigned block = 256;

template <Layout L, bool moves>
__global__ void __launch_bounds__(block) step_of(Work work, std::uint32_t system) {
  walk_tiles<L, Plain, block, 1, moves>(work, system);
}

Climber make(const Session& session, const Problem&) {
  Climber climber;
  with_layout_named(session.param("layout"), [&]<class L>() {
    climber = {.launch =
                   [](const Step& step, cudaStream_t stream) {
                     const Work work = work_of(step);
                     const auto kernel = step.moves() ? step_of<L, true> : step_of<L, false>;
                     for (std::uint32_t system = 0; system < step.systems; ++system) {
                       kernel<<<blocks_for(step.bodies, block), block, 0, stream>>>(work, system);
                       cuda_check(cudaGetLastError());
                     }
                   },
               .kernel = reinterpret_cast<const void*>(step_of<L, false>),
               .threads = block};
  });
  return climber;
}

STRATA_RUNG("tiled", make);

}  // namespace
}  // namespace strata::nbody::tiled
