#include "harness/case/choices.hpp"
#include "nbody/neighbours/sorted_cells.cuh"

#if defined(__CUDACC__)
#include "nbody/neighbours/z_curve.hpp"
#endif

namespace strata::neighbours::curve {
namespace {

const Rung rung{
    .name = "neighbours_curve",
    .backend = Backend::cuda,
    .before = "neighbours_reordered",
    .costs = {.issue_slots = 14.5, .build = predict_sorted_by_table},
    .question = "How much does it gain to order cells along a space-filling curve?",
    .change =
        "cells, and their agents, follow a Z or a Hilbert curve; a table gives their positions",
    .source =
        "Morton, A computer oriented geodetic data base and a new technique in file sequencing, "
        "IBM, 1966; Skilling, Programming the Hilbert curve, AIP 707, 2004",
    .expectation =
        "cells above and behind are nearer in memory than a row or a layer away, and the agents of "
        "a warp form a cube instead of a row: together they visit fewer cells, and more of what a "
        "block reads is in L1. That is little as long as L2 holds all agents, of 16 B each, and "
        "every visited cell costs a table lookup, some 20 times per agent and step. Along a "
        "Hilbert curve, which never jumps, the agents of a warp are still nearer to each other",
    .predicted_tests = predict_curve_cells,
    .predicted_traffic = predict_counting_sort,
    .axes = {cells_axis(), listed_axis("curve", "order of the cells", {"z", "hilbert"}, {"z"})}};

#if defined(__CUDACC__)
template <Kind kind>
__global__ void __launch_bounds__(usual_block, usual_blocks)
    step_of(KernelStep step, AskAlongCurve search) {
  take_step_standing<kind>(step, thread_number(), search);
}

DeviceKernel make(const Problem& problem, const Choice& choice) {
  return searching_sorted(
      problem, choice, [&]<Kind kind>() { return step_of<kind>; },
      [](SortedCells& sorted, const DeviceStep& step, Queue& queue) -> AskAlongCurve {
        auto search = ask_in_order<AskAlongCurve>(sorted, step, queue);
        search.places = sorted.places();
        return search;
      },
      choice.curve == Curve::z ? along_z_curve(cells_for(problem, choice))
                               : along_hilbert_curve(cells_for(problem, choice)));
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::curve
