#include "nbody/fstat/lanes.cuh"

namespace strata::fstat::lane_per_frequency {
namespace {

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

STRATA_RUNG("fstat_lane_per_frequency", make);

}  // namespace
}  // namespace strata::fstat::lane_per_frequency
