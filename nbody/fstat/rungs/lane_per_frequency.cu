#include "nbody/fstat/lanes.cuh"

namespace strata::fstat::lane_per_frequency {
namespace {

const Rung rung{
    .name = "fstat_lane_per_frequency",
    .backend = Backend::cuda,
    .before = "fstat_resident",
    .question = "What if a thread sums all signals of its own template?",
    .change = "a lane for each template of a stack, 9 cells × 161 frequencies, for each sky point",
    .source = "own: the outer loops of Breitbart's listing 4.1, which nothing sums over",
    .expectation =
        "nothing is added up across threads, and neighbours in frequency read the same bins, so "
        "that a load of a warp is a sector or two. The special function unit, with 22 of its "
        "instructions a term, and the issue of some 150 are then about as long",
    .approximate = true,
    .predicted = predict_lanes,
    .issue_slots = {{1, 152}}};

#if defined(__CUDACC__)
__global__ void __launch_bounds__(usual_block, usual_blocks) sum_by_lane(KernelStep step) {
  sum_in_lane(step, [&](Sums& sums, std::uint32_t cell, std::uint32_t j, std::uint32_t from,
                        std::uint32_t end) {
    const double frequency = step.grid.frequency(j);
    const double spin = step.grid.spin(cell);
#pragma unroll 1
    for (std::uint32_t s = from; s < end; ++s)
      add_signal(sums, step.spectra[s], step.grid, step.timings[s], step.antennas[s], frequency,
                 spin);
  });
}

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  return lanes_of_sky(
      seen, code_of(sum_by_lane), {.sum = [](const KernelStep& step, Queue& queue) {
        queue.launch_blocks(sum_by_lane, {blocks_of_lanes(step), usual_block}, step);
      }});
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::lane_per_frequency
