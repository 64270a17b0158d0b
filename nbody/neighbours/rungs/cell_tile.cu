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
        "How much does it gain to keep the agents of cells in shared memory, without idle threads?",
    .change =
        "a warp reads each row of cells once, as far as any of its threads reaches, into shared "
        "memory; each thread tests its own cells, eight agents at a time as in tile",
    .source =
        "the aim of Breitbart 2008, ch. 7, whose blocks of 128 threads have a cell of up to 128 "
        "agents each; here threads are in cell order, so that every thread has an agent",
    .expectation =
        "as many tests as runs. Where a warp's agents share a row of cells, each agent is read by "
        "one coalesced load instead of one per lane and test. Of eight tests of circles, nearly "
        "each has a hit in some lane, but pushes are executed only as often as the lane with the "
        "most hits needs. Where a row has fewer agents than a warp, a warp waits in rows that only "
        "some of its lanes reach, and runs is faster",
    .predicted_tests = predict_rows,
    .predicted_traffic = predict_counting_sort,
    .axes = {cells_axis()}};

#if defined(__CUDACC__)
/// A group and the nearest 7 need more registers than four blocks of an SM have.
template <Kind kind>
__global__ void __launch_bounds__(usual_block, kind == Kind::boids ? 6 : usual_blocks)
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

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::cell_tile
