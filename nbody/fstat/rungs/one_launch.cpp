#include "nbody/fstat/device_rung.hpp"

namespace strata::fstat::one_launch {
namespace {

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  const auto sum = [](const DevicePass& pass, std::uint32_t sky, const auto& vectors,
                      Queue& queue) {
    const Problem& p = pass.problem();
    for (std::uint32_t cell = 0; cell < p.cells; ++cell) {
      for (std::uint32_t stack = 0; stack < p.stacks; ++stack) {
        KernelStep step = pass.step(sky, cell, stack);
        vectors.add_to(step);
        queue_signal_sums(queue, step, p.frequencies, 1, pass.seen->longest_group(stack),
                          p.detectors);
        queue.copy_out(*pass.two_f, pass.result(sky, cell, stack), p.frequencies);
      }
    }
  };
  return {.run = packed_run(seen, Spectra::each_sky_point, sum),
          .kernels = {signal_sums()},
          .block = seen.longest_group() * seen.problem.detectors};
}

STRATA_RUNG("fstat_one_launch", make);

}  // namespace
}  // namespace strata::fstat::one_launch
