#include "nbody/neighbours/sorted_cells.cuh"
#include "nbody/neighbours/tiles.hpp"

namespace strata::neighbours::cell_tile {
namespace {

/// A group and the nearest 7 need more registers than four blocks of an SM have.
template <Kind kind>
__global__ void __launch_bounds__(usual_block, kind == Kind::boids ? 6 : usual_blocks)
    step_of(KernelStep step, SearchRows runs) {
  __shared__ OrderedAgent tiles[usual_block / threads_of_warp][SearchTiles::room];
  take_step_tiled<kind>(
      step, thread_number(),
      {runs, tiles[threadIdx.x / threads_of_warp], threadIdx.x % threads_of_warp});
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, search_in_order<SearchRows>);
}

STRATA_RUNG("neighbours_cell_tile", make);

}  // namespace
}  // namespace strata::neighbours::cell_tile
