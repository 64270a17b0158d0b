#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::fast_math {
namespace {

const Rung story{
    .name = "fast_math",
    .before = "one_launch",
    .question =
        "How much does the hardware's reciprocal square root gain, and what accuracy does it cost?",
    .change = "rsqrt.approx.ftz instead of square root and division",
    .source = thessaly("Instruction fusion"),
    .expectation =
        "one special function per pair instead of two and the code around them; the error grows by "
        "the inaccuracy of its last digits",
    .approximate = true,
    .issue_slots = 18,
    .bodies_of_block = usual_block,
    .threads_of_read = usual_block,
    .layouts = {"soaoas", "aos", "soa", "aoas", "aosoa32"}};

#if defined(__CUDACC__)
template <Layout L, bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  walk_tiles<L, Fast, usual_block, 1, moves>(work, blockIdx.y);
}

RungKernel make(const Session& session, const Problem& problem) {
  return tile_kernel_in_layout(session, problem, Fast::square_roots,
                               [&]<class L, bool moves>() { return step_of<L, moves>; });
}
#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::fast_math
