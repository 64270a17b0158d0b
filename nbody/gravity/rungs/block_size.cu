// The block size determines occupancy: from 50 % to 67 %, Siegel et al. gained 6 %.
#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::block_size {
namespace {

constexpr unsigned unroll = 32;

template <unsigned block, bool moves>
__global__ void __launch_bounds__(block) step_of(Work work) {
  walk_tiles<Soaoas, Fast, block, unroll, moves>(work, blockIdx.y);
}

RungKernel make(const Session& session, const Problem& problem) {
  const auto block = static_cast<unsigned>(session.whole("block_size"));
  const auto kernel = with_value<64, 128, 256, 512, 1024>(
      block, [&]<unsigned n>() { return problem.moves() ? step_of<n, true> : step_of<n, false>; });
  return tile_kernel(kernel, block, Fast::square_roots, problem);
}

STRATA_RUNG("block_size", make);

}  // namespace
}  // namespace strata::nbody::block_size
