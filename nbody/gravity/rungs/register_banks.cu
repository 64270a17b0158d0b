// Rung register_banks: what does it cost that both operands of a subtraction lie in one bank of the
// register file?
//
// A float4 is read into four registers that begin at a multiple of four, so x of one body and x of
// another are in the same of the two banks, and so are y and z, and a subtraction may have to read
// them one after the other. Here the tile holds the mass first, and every coordinate is one
// register further on. On an H200 that is worth 4 %: far less than a cycle for each subtraction.
#include "nbody/gravity/several.cuh"

namespace strata::nbody::register_banks {
namespace {

template <unsigned per_thread, unsigned warps, bool moves>
__global__ void __launch_bounds__(warps* several::lanes) step_of(Work work) {
  several::walk<per_thread, warps, moves, /*turned=*/true>(work);
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

STRATA_RUNG("register_banks", make);

}  // namespace
}  // namespace strata::nbody::register_banks
