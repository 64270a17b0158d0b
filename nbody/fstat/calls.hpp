// A call for each template and detector, as LALSuite's XLALComputeFaFb is called: what rungs share
// that differ in how the pieces of a call come to the GPU.
#pragma once

#include "nbody/fstat/device_rung.hpp"

namespace strata::fstat {

/// The sums of a call, on both sides.
struct CallSums {
  Sums* device = nullptr;
  PinnedBuffer<Sums>* host = nullptr;
};

/// Queues the kernel of a call, whose vectors are on the GPU, and waits for its sums.
inline Sums sum_call(KernelStep step, std::uint32_t signals, const CallSums& sums, Queue& queue) {
  step.two_f = nullptr;
  step.sums = sums.device;
  queue_signal_sums(queue, step, 1, 1, signals, 1);
  queue.copy_bytes(Activity::Of::copy_out, sums.host->data(), sums.device, sizeof(Sums));
  queue.wait();
  return sums.host->span().front();
}

/// Everything by calls: call(sky, group, step) returns the sums of one. `begin` is called before
/// those of a sky point.
template <class Begin, class Call>
void call_by_call(const DevicePass& pass, const Begin& begin, const Call& call) {
  const Problem& p = pass.problem();
  for (std::uint32_t sky = 0; sky < p.sky; ++sky) {
    begin(sky);
    for (std::uint32_t cell = 0; cell < p.cells; ++cell) {
      for (std::uint32_t stack = 0; stack < p.stacks; ++stack) {
        for (std::uint32_t j = 0; j < p.frequencies; ++j) {
          KernelStep step = pass.step(sky, cell, stack);
          step.frequency = j;
          Sums all;
          for (std::uint32_t d = 0; d < p.detectors; ++d)
            all = all + call(sky, stack * p.detectors + d, step);
          const std::size_t result = pass.result(sky, cell, stack) + j;
          pass.two_f->host.span()[result] = two_f(all, pass.pieces->matrices(sky)[stack]);
          if (pass.sums != nullptr) pass.sums->host.span()[result] = all;
        }
      }
    }
  }
}

/// Memory for the pieces of any group.
struct GroupMemory {
  std::uint32_t bins;  ///< of a spectrum
  DeviceBuffer<Bin> spectra;
  DeviceBuffer<const Bin*> table;
  DeviceBuffer<Timing> timings;
  DeviceBuffer<Antenna> antennas;
  DeviceBuffer<Sums> sums{1};
  PinnedBuffer<const Bin*> host_table;  ///< where spectra are on the GPU
  PinnedBuffer<Sums> host_sums{1};

  explicit GroupMemory(const Observation& seen)
      : bins{seen.grid.bins},
        spectra{std::size_t{seen.longest_group()} * bins},
        table{seen.longest_group()},
        timings{seen.longest_group()},
        antennas{seen.longest_group()},
        host_table{seen.longest_group()} {
    for (std::size_t s = 0; s < host_table.size(); ++s)
      host_table.span()[s] = spectra.data() + s * bins;
  }

  /// Calls visit(to, from, bytes) for each piece of a group.
  template <class Visit>
  void visit_pieces(const Signals& group, const Visit& visit) {
    for (std::uint32_t s = 0; s < group.count; ++s)
      visit(spectra.data() + std::size_t{s} * bins, group.spectra[s], bins * sizeof(Bin));
    visit(table.data(), host_table.data(), group.count * sizeof(const Bin*));
    visit(timings.data(), group.timings, group.count * sizeof(Timing));
    visit(antennas.data(), group.antennas, group.count * sizeof(Antenna));
  }
  /// Sums a group whose pieces are here.
  [[nodiscard]] Sums sum(KernelStep step, const Signals& group, Queue& queue) {
    step.spectra = table.data();
    step.timings = timings.data();
    step.antennas = antennas.data();
    step.signals = group.count;
    return sum_call(step, group.count, {sums.data(), &host_sums}, queue);
  }
};

/// A rung whose calls have memory that stays: bring(memory, group, queue) queues what fills it.
template <class Bring>
[[nodiscard]] DeviceKernel calls_in_kept_memory(const Observation& seen, const Bring& bring) {
  const auto memory = std::make_shared<GroupMemory>(seen);
  return {.run =
              [=](const DevicePass& pass, Queue& queue) {
                call_by_call(
                    pass, [](std::uint32_t /*sky*/) {},
                    [&](std::uint32_t sky, std::uint32_t group, const KernelStep& step) {
                      const Signals pieces = pass.pieces->of(sky, group);
                      bring(*memory, pieces, queue);
                      return memory->sum(step, pieces, queue);
                    });
              },
          .kernels = {signal_sums()},
          .block = seen.longest_group(),
          .sums_on_host = true};
}

}  // namespace strata::fstat
