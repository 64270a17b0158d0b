// A float4 is read into four registers that begin at a multiple of four. So the x of one body and
// the x of another are in the same of the two register banks, and so are y and z: a subtraction may
// have to read them one after the other. Here the tile stores the mass first, which shifts every
// coordinate by one register. On an H200 that is worth 4 %: far less than a cycle per subtraction.
#include "nbody/gravity/several.cuh"

namespace strata::nbody::register_banks {
namespace {

const Rung story{
    .name = "register_banks",
    .before = "registers",
    .question = "What does it cost when a subtraction reads both operands from one register bank?",
    .change = "the tile stores the mass first, which shifts the coordinates by one register",
    .source = "banks of Volta's register file: Jia et al. 2018, arXiv:1804.06826, 3.3",
    .expectation = "three cycles of 16 per pair: dispatch stalls disappear, nothing else changes",
    .sum = Sum::blocks,
    .approximate = true,
    .issue_slots = 13.25,
    .axes = {numbers("per_thread", "bodies per thread", {"1", "2", "4", "8"}, {"4", "8"}),
             numbers("warps", "warps of a block, which divide the source bodies",
                     {"1", "2", "4", "8"}, {"4", "8"})}};

#if defined(__CUDACC__)
template <unsigned per_thread, unsigned warps, bool moves>
__global__ void __launch_bounds__(warps* several::lanes) step_of(Work work) {
  several::walk<per_thread, warps, moves, /*turned=*/true>(work);
}

RungKernel make(const Session& session, const Problem& problem) {
  return several::kernel_of(session, problem,
                            [&]<unsigned per_thread, unsigned warps, bool moves>() {
                              return step_of<per_thread, warps, moves>;
                            });
}
#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::register_banks
