#include "nbody/fstat/calls.hpp"

namespace strata::fstat::packed {
namespace {

const Rung rung{
    .name = "fstat_packed",
    .backend = Backend::cuda,
    .before = "fstat_kept_memory",
    .question = "What does it bring to copy pieces together before they are sent?",
    .change =
        "for each sky point the host packs all pieces into six vectors: spectra and where each "
        "begins, the first signal of each group, timings, antennas, matrices. These are copied "
        "in; a call copies only its sums out",
    .source = seed("4.3.2: version 2"),
    .expectation =
        "a call is left with a launch and a copy, 10 to 15 µs: the seed's version 2 was as fast as "
        "its CPU, this one is slower than one core, which takes 2 µs",
    .approximate = true,
    .predicted = predict_packed,
    .most_terms = 2e7};

#if defined(STRATA_HAS_CUDA)
struct Memory {
  PackedVectorsOnDevice vectors;
  DeviceBuffer<Sums> sums{1};
  PinnedBuffer<Sums> host_sums{1};

  explicit Memory(const Observation& seen) : vectors{seen} {}
};

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  const auto memory = std::make_shared<Memory>(seen);
  return {.run =
              [=](const DevicePass& pass, Queue& queue) {
                call_by_call(
                    pass,
                    [&](std::uint32_t sky) {
                      memory->vectors.sky.bring(pass, sky, &memory->vectors.spectra, queue);
                    },
                    [&](std::uint32_t /*sky*/, std::uint32_t group, KernelStep step) {
                      memory->vectors.add_to(step);
                      step.first += group % step.detectors;  // in front of the stack's
                      return sum_call(step, pass.seen->signals_of(group),
                                      {memory->sums.data(), &memory->host_sums}, queue);
                    });
              },
          .kernels = {signal_sums()},
          .block = seen.longest_group(),
          .sums_on_host = true};
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::packed
