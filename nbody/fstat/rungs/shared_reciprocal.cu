#include "nbody/fstat/lanes.cuh"

namespace strata::fstat::shared_reciprocal {
namespace {

template <std::uint32_t group>
__global__ void __launch_bounds__(usual_block, usual_blocks) sum_by_lane(KernelStep step) {
  sum_in_lane(step, [&](Sums& sums, std::uint32_t cell, std::uint32_t j, std::uint32_t from,
                        std::uint32_t end) {
    const double frequency = step.grid.frequency(j);
    const double spin = step.grid.spin(cell);
#pragma unroll 1
    for (std::uint32_t s = from; s < end; ++s)
      add_signal(sums, step.spectra[s], step.grid, step.timings[s], step.antennas[s], frequency,
                 spin, Weighted<group>{});
  });
}

DeviceKernel make(const Observation& seen, const Choice& choice) {
  const auto kernel = with_value<1U, 2U, 4U, 8U, 16U>(
      choice.group, [&]<std::uint32_t group>() { return &sum_by_lane<group>; });
  return lanes_of_sky(seen, code_of(kernel),
                      {.sum = [kernel](const KernelStep& step, Queue& queue) {
                        queue.launch_blocks(kernel, {blocks_of_lanes(step), usual_block}, step);
                      }});
}

STRATA_RUNG("fstat_shared_reciprocal", make);

}  // namespace
}  // namespace strata::fstat::shared_reciprocal
