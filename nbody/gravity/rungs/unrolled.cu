// Rung unrolled: how far does it pay to write the inner loop out? (Siegel et al. 2009, IV-A;
// CUDA Handbook, Table 14.2)
#include "nbody/gravity/rung_kernels.cuh"
#include "nbody/gravity/tile.cuh"

namespace strata::nbody::unrolled {
namespace {

constexpr unsigned block = 256;

template <unsigned unroll, bool moves>
__global__ void __launch_bounds__(block) step_of(Work work) {
  walk_tiles<Soaoas, Fast, block, unroll, moves>(work, blockIdx.y);
}

Climber make(const Session& session, const Problem& problem) {
  Climber climber;
  const auto unroll = static_cast<unsigned>(session.whole("unroll"));
  with_number<1, 2, 4, 8, 16, 32, 64, 128, block>(unroll, [&]<unsigned n>() {
    climber = tile_climber(problem.kind == Kind::galaxies ? step_of<n, true> : step_of<n, false>,
                           block, Fast::square_roots, problem);
  });
  return climber;
}

STRATA_RUNG("unrolled", make);

}  // namespace
}  // namespace strata::nbody::unrolled
