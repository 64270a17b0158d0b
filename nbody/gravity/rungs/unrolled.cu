#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::unrolled {
namespace {

constexpr unsigned block = 256;

Rung story() {
  return {.name = "unrolled",
          .before = "fast_math",
          .question = "How far does it pay to write the inner loop out?",
          .change = "the inner loop is unrolled",
          .source = siegel("IV-A") + "; " + handbook("Table 14.2"),
          .expectation =
              "the loop's own instructions go, and shared loads are issued ahead of their "
              "use",
          .approximate = true,
          .issue_slots = 14.03,
          .bodies_of_block = block,
          .threads_of_read = block,
          .axes = {numbers("unroll", "bodies of a turn of the inner loop; 256 is all of a tile",
                           {"1", "2", "4", "8", "16", "32", "64", "128", "256"},
                           {"1", "2", "4", "8", "16", "32", "64", "128", "256"})}};
}

#if defined(__CUDACC__)

template <unsigned unroll, bool moves>
__global__ void __launch_bounds__(block) step_of(Work work) {
  walk_tiles<Soaoas, Fast, block, unroll, moves>(work, blockIdx.y);
}

RungKernel make(const Session& session, const Problem& problem) {
  const auto unroll = static_cast<unsigned>(session.whole("unroll"));
  return with_number<1, 2, 4, 8, 16, 32, 64, 128, block>(unroll, [&]<unsigned n>() -> RungKernel {
    return tile_kernel(problem.moves() ? step_of<n, true> : step_of<n, false>, block,
                       Fast::square_roots, problem);
  });
}

#endif

STRATA_RUNG(story, make);

}  // namespace
}  // namespace strata::nbody::unrolled
