#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::unrolled {
namespace {

const Rung story{
    .name = "unrolled",
    .before = "fast_math",
    .question = "How far does it pay to unroll the inner loop?",
    .change = "the inner loop is unrolled",
    .source = siegel("IV-A") + "; " + handbook("Table 14.2"),
    .expectation =
        "the loop's own instructions disappear, and shared loads are issued ahead of their use",
    .approximate = true,
    .issue_slots = 14.03,
    .bodies_of_block = usual_block,
    .threads_of_read = usual_block,
    .axes = {numbers("unroll", "bodies per iteration of the inner loop; 256 is the whole tile",
                     {"1", "2", "4", "8", "16", "32", "64", "128", "256"},
                     {"1", "2", "4", "8", "16", "32", "64", "128", "256"})}};

#if defined(__CUDACC__)
template <unsigned unroll, bool moves>
__global__ void __launch_bounds__(usual_block) step_of(Work work) {
  walk_tiles<Soaoas, Fast, usual_block, unroll, moves>(work, blockIdx.y);
}

RungKernel make(const Session& session, const Problem& problem) {
  const auto kernel = with_value<1, 2, 4, 8, 16, 32, 64, 128, 256>(
      session.whole("unroll"),
      [&]<unsigned n>() { return problem.moves() ? step_of<n, true> : step_of<n, false>; });
  return tile_kernel(kernel, usual_block, Fast::square_roots, problem);
}
#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::unrolled
