#include "nbody/fstat/lanes.cuh"

namespace strata::fstat::fixed_point {
namespace {

const Rung rung{
    .name = "fstat_fixed_point",
    .backend = Backend::cuda,
    .before = "fstat_shared_reciprocal",
    .question = "Do phases need double precision?",
    .change =
        "a block computes once, in double precision, where each signal arrives at its first "
        "frequency and in which phase; a lane goes on from there in fixed point of 2^-32",
    .source = "own: both are linear in frequency, and whole cycles do not count",
    .expectation =
        "two multiply-additions of integers in place of some 20 instructions in double precision, "
        "and none of its conversions, which the special function unit makes",
    .approximate = true,
    .predicted = predict_lanes,
    .issue_slots = {{1, 135}, {2, 151}, {4, 159}, {8, 163}, {16, 165}},
    .axes = {group_axis()}};

#if defined(__CUDACC__)
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
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::fixed_point
