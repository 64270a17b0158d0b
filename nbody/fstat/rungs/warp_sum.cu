#include "nbody/fstat/device_rung.hpp"
#include "nbody/fstat/signal_terms.cuh"

namespace strata::fstat::warp_sum {
namespace {

__global__ void __launch_bounds__(usual_block) sum_by_warp(KernelStep step) {
  constexpr std::uint32_t lanes = 32;
  const std::uint32_t j = blockIdx.x * templates_of_block + threadIdx.x / lanes;
  const bool has_template = j < step.frequencies;
  const std::uint32_t* const first = step.first + blockIdx.y * step.detectors;
  const std::uint32_t end = has_template ? first[step.detectors] : 0;
  Sums sums;
  std::uint32_t terms = 0;
  for (std::uint32_t s = first[0] + threadIdx.x % lanes; s < end; s += lanes, ++terms) {
    add_signal(sums, step.spectra[s], step.grid, step.timings[s], step.antennas[s],
               step.grid.frequency(j), step.grid.spin(step.cell));
  }
  count_terms(step.work, terms);
  if (!has_template) return;
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    const auto from = [&](float x) { return __shfl_xor_sync(0xFFFFFFFFU, x, distance); };
    sums = sums + Sums{from(sums.a_re), from(sums.a_im), from(sums.b_re), from(sums.b_im)};
  }
  if (threadIdx.x % lanes == 0)
    store_result(step, blockIdx.y, blockIdx.y * step.frequencies + j, sums);
}

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  const Problem p = seen.problem;
  const dim3 blocks{(p.frequencies + templates_of_block - 1) / templates_of_block, p.stacks};
  return {.run = packed_cells(seen, Spectra::once,
                              [=](const KernelStep& step, Queue& queue) {
                                queue.launch_blocks(sum_by_warp, {blocks, usual_block}, step);
                              }),
          .kernels = {code_of(sum_by_warp)}};
}

STRATA_RUNG("fstat_warp_sum", make);

}  // namespace
}  // namespace strata::fstat::warp_sum
