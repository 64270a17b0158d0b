// Rungs one_launch and fast_math on several GPUs (fleet.cuh): the last three rows of Table 1 of
// Papadouli et al. (2026), which are several GPUs, then another layout, then fast math.
#include "nbody/gravity/fleet.cuh"

namespace strata::nbody::tiled_gpus {
namespace {

template <Layout L, class Math, bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  walk_tiles<L, Math, usual_block, 1, moves, /*in_part=*/true>(work, blockIdx.y);
}

using Kernel = void (*)(Work);

template <Layout L>
Kernel kernel_of(bool is_fast, bool moves) {
  if (is_fast) return moves ? step_of<L, Fast, true> : step_of<L, Fast, false>;
  return moves ? step_of<L, Plain, true> : step_of<L, Plain, false>;
}

PrepareGpu make(const Session& session, const Problem& problem, GpuTeam& /*unused*/) {
  const bool is_fast = session.param("math") == "fast";
  const std::string& layout = session.param("layout");
  const Kernel kernel = layout == Aos::name   ? kernel_of<Aos>(is_fast, problem.moves())
                        : layout == Soa::name ? kernel_of<Soa>(is_fast, problem.moves())
                                              : kernel_of<Soaoas>(is_fast, problem.moves());
  return [=](std::size_t /*rank*/, const Part& part) -> QueueSteps {
    return [=](std::span<const Step> steps, const Stream& stream) {
      const std::uint32_t mine = part.end - part.begin;
      if (mine == 0 || part.systems == 0) return;
      for (const Step& step : steps) {
        Work work = work_of(step);
        work.begin = part.begin;
        work.end = part.end;
        const dim3 grid{blocks_for(mine, usual_block), part.systems};
        kernel<<<grid, usual_block, 0, stream.get()>>>(work);
      }
    };
  };
}

STRATA_RUNG("tiled_gpus", make);

}  // namespace
}  // namespace strata::nbody::tiled_gpus
