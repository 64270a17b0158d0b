// Rung registers: what does it bring that a thread has several bodies, so that one read from shared
// memory serves them all?
#include "nbody/gravity/several.cuh"

namespace strata::nbody::registers {
namespace {

template <unsigned per_thread, unsigned warps, bool moves>
__global__ void __launch_bounds__(warps* several::lanes) step_of(Work work) {
  several::walk<per_thread, warps, moves, /*turned=*/false>(work);
}

struct Kernels {
  template <unsigned per_thread, unsigned warps, bool moves>
  static auto of() {
    return step_of<per_thread, warps, moves>;
  }
};

Climber make(const Session& session, const Problem& problem) {
  return several::climber_of<Kernels>(session, problem);
}

STRATA_RUNG("registers", make);

}  // namespace
}  // namespace strata::nbody::registers
