#include "nbody/fstat/calls.hpp"

namespace strata::fstat::packed {
namespace {

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

STRATA_RUNG("fstat_packed", make);

}  // namespace
}  // namespace strata::fstat::packed
