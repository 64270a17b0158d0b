#include "nbody/fstat/device_rung.hpp"

namespace strata::fstat::one_launch {
namespace {

const Rung rung{
    .name = "fstat_one_launch",
    .backend = Backend::cuda,
    .before = "fstat_packed",
    .question = "What does it bring to sum a whole band by one kernel?",
    .change =
        "a block for each frequency, with a thread for each signal of each detector: 161 blocks, "
        "and a band of 2F out, for each cell and stack",
    .source = seed("4.3.3: version 3"),
    .expectation =
        "322 calls become one launch and one copy. Of some 100 threads of a block up to 10 have no "
        "signal, since detectors differ in how many they have; and while one thread adds up 90 "
        "terms, the others wait",
    .approximate = true,
    .predicted = predict_one_launch};

#if defined(STRATA_HAS_CUDA)
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
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::one_launch
