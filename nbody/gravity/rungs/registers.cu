#include "nbody/gravity/several.cuh"

namespace strata::nbody::registers {
namespace {

template <unsigned per_thread, unsigned warps, bool moves>
__global__ void __launch_bounds__(warps* several::lanes) step_of(Work work) {
  several::walk<per_thread, warps, moves, /*turned=*/false>(work);
}

RungKernel make(const Session& session, const Problem& problem) {
  return several::kernel_of(session, problem,
                            [&]<unsigned per_thread, unsigned warps, bool moves>() {
                              return step_of<per_thread, warps, moves>;
                            });
}

STRATA_RUNG("registers", make);

}  // namespace
}  // namespace strata::nbody::registers
