// One launch for each system and step, and another that moves the bodies: a direct translation of
// the serial program (Papadouli et al. 2026, before their first step; Siegel et al. 2009, IV).
#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::naive {
namespace {

template <Layout L>
__global__ void __launch_bounds__(usual_block) accelerate(Work work, std::uint32_t system) {
  const std::uint32_t mine = blockIdx.x * usual_block + threadIdx.x;
  if (mine >= work.bodies) return;
  const std::uint32_t first = system * work.bodies;
  const float4 me = read_posmass<L>(work.from, first + mine, work.total);
  Acceleration pulls;
#pragma unroll 1
  for (std::uint32_t j = 0; j < work.bodies; ++j) {
    pull<Plain>(pulls, me, read_posmass<L>(work.from, first + j, work.total),
                work.softening_squared);
  }
  finish<L, false>(work, first + mine, me, pulls);
}

template <Layout L>
__global__ void __launch_bounds__(usual_block) move(Work work, std::uint32_t system) {
  const std::uint32_t mine = blockIdx.x * usual_block + threadIdx.x;
  if (mine >= work.bodies) return;
  const std::uint32_t i = system * work.bodies + mine;
  const float4 me = read_posmass<L>(work.from, i, work.total);
  const Acceleration pulls{work.acceleration[i], work.acceleration[work.total + i],
                           work.acceleration[2 * work.total + i]};
  finish<L, true>(work, i, me, pulls);
}

RungKernel make(const Session& session, const Problem&) {
  return with_layout_named(session.param("layout"), [&]<class L>() -> RungKernel {
    return {.launch =
                [](const Step& step, cudaStream_t stream) {
                  const Work work = work_of(step);
                  for (std::uint32_t system = 0; system < step.systems; ++system) {
                    accelerate<L><<<blocks_for(step.bodies, usual_block), usual_block, 0, stream>>>(
                        work, system);
                    if (!step.moves()) continue;
                    move<L><<<blocks_for(step.bodies, usual_block), usual_block, 0, stream>>>(
                        work, system);
                  }
                },
            .kernel = reinterpret_cast<const void*>(accelerate<L>),
            .threads = usual_block,
            .most_counted = most_counted_of_plain};
  });
}

STRATA_RUNG("naive", make);

}  // namespace
}  // namespace strata::nbody::naive
