#include "nbody/neighbours/sorted_cells.cuh"

#if defined(__CUDACC__)
#include "nbody/neighbours/tiles.hpp"
#endif

namespace strata::neighbours::cell_tile {
namespace {

const Rung rung{
    .name = "neighbours_cell_tile",
    .backend = Backend::cuda,
    .before = "neighbours_runs",
    .costs = {.build = predict_sorted_agents},
    .question =
        "What does it bring to have the agents of cells in shared memory, with no thread "
        "idle for it?",
    .change =
        "a warp reads each row of cells once, as far as any of its threads reaches, into shared "
        "memory, of which a thread asks its own cells, eight agents at a time as tile does",
    .source =
        "the aim of Breitbart 2008, ch. 7, whose blocks of 128 threads have a cell of up to 128 "
        "agents each; here threads stand in the order of cells, so that none lacks an agent",
    .expectation =
        "as many tests as runs. Where a warp's agents share a row of cells, each agent is read by "
        "one coalesced load in the place of one a lane and test, and of eight tests of circles, "
        "where in nearly each some lane has a hit, only as many are followed by a push as the "
        "lane with the most hits has; where a row has fewer agents than a warp, a warp waits in "
        "rows that but some of its lanes reach, and runs is faster",
    .predicted_tests = predict_rows,
    .predicted_traffic = predict_counting_sort,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
/// A group and the nearest 7 need more registers than four blocks of an SM have.
template <Kind kind>
__global__ void __launch_bounds__(usual_block, kind == Kind::boids ? 3 : usual_blocks)
    step_of(KernelStep step, AskRuns runs) {
  __shared__ Standing tiles[usual_block / threads_of_warp][AskTiles::room];
  take_step_tiled<kind>(
      step, thread_number(),
      {runs, tiles[threadIdx.x / threads_of_warp], threadIdx.x % threads_of_warp});
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; }, ask_in_order<AskRuns>);
}
#endif

STRATA_NEIGHBOURS_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::cell_tile
