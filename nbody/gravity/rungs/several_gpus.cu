// Systems are distributed over the GPUs, or the bodies of a single system: each GPU computes the
// accelerations of its own bodies (fleet.cuh).
#include "nbody/gravity/fleet.cuh"
#include "nbody/gravity/several.cuh"

namespace strata::nbody::several_gpus {
namespace {

constexpr unsigned warps = 8;

template <unsigned per_thread, bool moves>
__global__ void __launch_bounds__(warps* several::lanes) step_of(Work work) {
  several::walk<per_thread, warps, moves, /*turned=*/true>(work);
}

PrepareGpu make(const Session& session, const Problem& problem, GpuTeam& /*unused*/) {
  const auto per_thread = static_cast<unsigned>(session.whole("per_thread"));
  void (*const kernel)(Work) = with_value<2, 4, 8>(per_thread, [&]<unsigned n>() {
    return problem.moves() ? step_of<n, true> : step_of<n, false>;
  });
  return [=](std::size_t /*rank*/, const Part& part) -> QueueSteps {
    return [=](std::span<const Step> steps, const Stream& stream) {
      const std::uint32_t mine = part.end - part.begin;
      if (mine == 0 || part.systems == 0) return;
      for (const Step& step : steps) {
        Work work = work_of(step);
        work.begin = part.begin;
        work.end = part.end;
        kernel<<<dim3{blocks_for(mine, per_thread * several::lanes), part.systems},
                 warps * several::lanes, 0, stream.get()>>>(work);
      }
    };
  };
}

STRATA_RUNG("several_gpus", make);

}  // namespace
}  // namespace strata::nbody::several_gpus
