#include "nbody/gravity/several.cuh"

namespace strata::nbody::registers {
namespace {

const Rung story{
    .name = "registers",
    .before = "invariants",
    .question = "How much does it gain to keep several bodies per thread in registers?",
    .change = "several bodies per thread; warps divide the source bodies, without barriers",
    .source = "register blocking as in matrix products (Volkov, Demmel 2008)",
    .expectation =
        "shared loads are divided by the bodies per thread, and independent chains hide each "
        "other's latency",
    .sum = Sum::blocks,
    .approximate = true,
    .issue_slots = 13.25,
    .axes = {numbers("per_thread", "bodies per thread", {"1", "2", "4", "8"}, {"4", "8"}),
             numbers("warps", "warps of a block, which divide the source bodies",
                     {"1", "2", "4", "8"}, {"2", "4"})}};

#if defined(__CUDACC__)
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
#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::registers
