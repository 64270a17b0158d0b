// Rung block_size: which size of blocks, and with it which occupancy, is best? (Siegel et al. 2009,
// IV-B: from 50 % to 67 % brought them 6 %)
#include "nbody/gravity/rung_kernels.cuh"
#include "nbody/gravity/tile.cuh"

namespace strata::nbody::block_size {
namespace {

constexpr unsigned unroll = 32;

template <unsigned block, bool moves>
__global__ void __launch_bounds__(block) step_of(Work work) {
  walk_tiles<Soaoas, Fast, block, unroll, moves>(work, blockIdx.y);
}

Climber make(const Session& session, const Problem& problem) {
  Climber climber;
  const auto block = static_cast<unsigned>(session.whole("block_size"));
  with_number<64, 128, 256, 512, 1024>(block, [&]<unsigned n>() {
    climber = tile_climber(problem.kind == Kind::galaxies ? step_of<n, true> : step_of<n, false>, n,
                           Fast::square_roots, problem);
  });
  return climber;
}

STRATA_RUNG("block_size", make);

}  // namespace
}  // namespace strata::nbody::block_size
