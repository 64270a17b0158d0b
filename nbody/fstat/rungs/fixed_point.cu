#include "nbody/fstat/lanes.cuh"

namespace strata::fstat::fixed_point {
namespace {

template <std::uint32_t group>
__global__ void __launch_bounds__(usual_block, usual_blocks) sum_by_lane(KernelStep step) {
  sum_in_fixed_point(
      step, [&](Sums& sums, std::uint32_t signal, const FixedArrival& at, const Antenna& antenna) {
        add_arrival(sums, step.spectra[signal], at.arrival, at.cycles, antenna, Weighted<group>{});
      });
}

DeviceKernel make(const Observation& seen, const Choice& choice) {
  const auto kernel = with_value<1U, 2U, 4U, 8U, 16U>(
      choice.group, [&]<std::uint32_t group>() { return &sum_by_lane<group>; });
  const std::uint32_t signals = seen.longest_stack();
  return lanes_of_sky(seen, code_of(kernel), {.sum = [=](const KernelStep& step, Queue& queue) {
                        queue.launch_blocks(kernel, shape_in_fixed_point(step, signals), step);
                      }});
}

STRATA_RUNG("fstat_fixed_point", make);

}  // namespace
}  // namespace strata::fstat::fixed_point
