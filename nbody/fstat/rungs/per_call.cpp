#include "nbody/fstat/calls.hpp"

#include <optional>
#include <vector>

namespace strata::fstat::per_call {
namespace {

/// Memory of one call.
struct CallMemory {
  std::vector<DeviceBuffer<Bin>> spectra;
  DeviceBuffer<const Bin*> table;
  DeviceBuffer<Timing> timings;
  DeviceBuffer<Antenna> antennas;
  DeviceBuffer<Sums> sums{1};

  CallMemory(std::uint32_t signals, std::uint32_t bins)
      : table{signals}, timings{signals}, antennas{signals} {
    for (std::uint32_t s = 0; s < signals; ++s)
      spectra.emplace_back(bins);
  }
  [[nodiscard]] std::uint64_t allocations() const { return spectra.size() + 4; }
};

Sums call(const DevicePass& pass, const Signals& pieces, KernelStep step,
          PinnedBuffer<const Bin*>& table, PinnedBuffer<Sums>& sums, Queue& queue) {
  const std::uint32_t bins = pass.seen->grid.bins;
  std::optional<CallMemory> memory;
  {
    const HostPhase allocating = queue.on_host(StepPhase::allocate);
    memory.emplace(pieces.count, bins);
  }
  *pass.allocations += memory->allocations();
  const auto bring = [&](auto* to, const auto* from, std::size_t count) {
    queue.copy_bytes(Activity::Of::copy_in, to, from, count * sizeof *from);
  };
  for (std::uint32_t s = 0; s < pieces.count; ++s) {
    bring(memory->spectra[s].data(), pieces.spectra[s], bins);
    table.span()[s] = memory->spectra[s].data();
  }
  bring(memory->table.data(), table.data(), pieces.count);
  bring(memory->timings.data(), pieces.timings, pieces.count);
  bring(memory->antennas.data(), pieces.antennas, pieces.count);
  step.spectra = memory->table.data();
  step.timings = memory->timings.data();
  step.antennas = memory->antennas.data();
  step.signals = pieces.count;
  const Sums result = sum_call(step, pieces.count, {memory->sums.data(), &sums}, queue);
  const HostPhase releasing = queue.on_host(StepPhase::allocate);
  memory.reset();
  return result;
}

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  const auto table = std::make_shared<PinnedBuffer<const Bin*>>(seen.longest_group());
  const auto sums = std::make_shared<PinnedBuffer<Sums>>(1);
  return {.run =
              [=](const DevicePass& pass, Queue& queue) {
                call_by_call(
                    pass, [](std::uint32_t /*sky*/) {},
                    [&](std::uint32_t sky, std::uint32_t group, const KernelStep& step) {
                      return call(pass, pass.pieces->of(sky, group), step, *table, *sums, queue);
                    });
              },
          .kernels = {signal_sums()},
          .block = seen.longest_group(),
          .sums_on_host = true};
}

STRATA_RUNG("fstat_per_call", make);

}  // namespace
}  // namespace strata::fstat::per_call
