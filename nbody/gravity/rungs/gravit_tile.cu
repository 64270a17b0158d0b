// The kernel of Siegel et al. (2009, IV): only the layout and the unroll differ between its cases.
#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::gravit_tile {
namespace {

constexpr unsigned block = 128;

template <Layout L, unsigned unroll, bool moves>
__global__ void __launch_bounds__(block) step_of(Work work) {
  walk_tiles<L, Fast, block, unroll, moves>(work, blockIdx.y);
}

template <Layout L>
auto kernel_of(unsigned unroll, bool moves) {
  return with_value<1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U>(
      unroll, [&]<unsigned n>() { return moves ? step_of<L, n, true> : step_of<L, n, false>; });
}

RungKernel make(const Session& session, const Problem& problem) {
  const auto unroll = static_cast<unsigned>(session.whole("unroll"));
  const std::string& layout = session.param("layout");
  // with_layout_named() would also build the kernels of layouts that the paper does not have.
  const auto kernel = layout == Aos::name    ? kernel_of<Aos>(unroll, problem.moves())
                      : layout == Soa::name  ? kernel_of<Soa>(unroll, problem.moves())
                      : layout == Aoas::name ? kernel_of<Aoas>(unroll, problem.moves())
                                             : kernel_of<Soaoas>(unroll, problem.moves());
  return tile_kernel(kernel, block, Fast::square_roots, problem);
}

STRATA_RUNG("gravit_tile", make);

}  // namespace
}  // namespace strata::nbody::gravit_tile
