// Types of rungs on a GPU: inputs and outputs of a pass on both sides, and the copies of an
// observation.
#pragma once

#include "harness/cuda/queue.hpp"
#include "nbody/fstat/kernel_step.hpp"
#include "nbody/fstat/ladder.hpp"
#include "nbody/fstat/pieces.hpp"
#include "nbody/fstat/verification.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace strata::fstat {

/// One pass over all sky points.
struct DevicePass {
  const Observation* seen = nullptr;
  const Pieces* pieces = nullptr;  ///< in page-locked memory
  TwoSided<float>* two_f = nullptr;
  TwoSided<Sums>* sums = nullptr;  ///< null: not needed
  Work* work = nullptr;            ///< on the GPU, added to; null: not needed
  std::uint64_t* allocations = nullptr;

  [[nodiscard]] const Problem& problem() const { return seen->problem; }
  /// Index of the first result of a sky point and a cell.
  [[nodiscard]] std::size_t result(std::uint32_t sky, std::uint32_t cell,
                                   std::uint32_t stack = 0) const {
    const Problem& p = problem();
    return sky * p.templates() + (std::size_t{cell} * p.stacks + stack) * p.frequencies;
  }
  /// Of templates from this one on; its vectors are for others to add.
  [[nodiscard]] KernelStep step(std::uint32_t sky, std::uint32_t cell, std::uint32_t stack) const {
    const Problem& p = problem();
    const std::size_t at = result(sky, cell, stack);
    return {.grid = seen->grid,
            .two_f = two_f->device.data() + at,
            .sums = sums == nullptr ? nullptr : sums->device.data() + at,
            .work = work,
            .detectors = p.detectors,
            .frequencies = p.frequencies,
            .stacks = p.stacks,
            .cells = p.cells,
            .cell = cell,
            .stack = stack};
  }
};

/// Of a rung that sums all templates of a sky point by one kernel.
struct SkySums {
  /// Queues what the spectra need, when they are on the GPU. May be empty.
  std::function<void(const KernelStep&, Queue&)> prepare = nullptr;
  std::function<void(const KernelStep&, Queue&)> sum = nullptr;
};

/// A rung, prepared for an observation.
struct DeviceKernel {
  /// Queues a pass. Waits only where the host has a part in it.
  std::function<void(const DevicePass&, Queue&)> run;
  std::vector<const void*> kernels;  ///< the one that sums first
  unsigned block = usual_block;      ///< threads of its blocks; of the largest, where they differ
  bool sums_on_host = false;         ///< the host adds up detectors, and puts sums there
  SkySums sky = {};
};
/// Prepares a rung. Throws Skipped where the device cannot do it.
using MakeDeviceKernel = DeviceKernel (*)(const Observation&, const Choice&);

/// Results and costs of a pass.
struct DeviceResults {
  std::vector<Sums> sums;  ///< empty: not requested
  std::vector<float> two_f;
  Costs costs;
  double terms = 0;
};
/// A pass; as it is verified, or as it is timed.
enum class Wanted { everything, two_f };
[[nodiscard]] DeviceResults pass_on_device(const DeviceKernel& kernel, const Observation& seen,
                                           Wanted wanted);

/// Verifies a rung, then times it.
void measure_rung(Session& session, const Rung& rung, MakeDeviceKernel make);

/// Spectra, packed: the same from every sky point.
class PackedSpectra {
 public:
  explicit PackedSpectra(const Observation& seen)
      : bins_{std::size_t{seen.signals()} * seen.grid.bins},
        spectra_{seen.signals()},
        first_{seen.problem.groups() + 1U} {}

  void add_to(Packed& places) {
    places.bins = bins_.host.span();
    places.bins_as_seen = bins_.device.data();
    places.spectra = spectra_.host.span();
    places.first = first_.host.span();
  }
  void copy_in(Queue& queue) const {
    queue.copy_in(bins_);
    queue.copy_in(spectra_);
    queue.copy_in(first_);
  }
  void add_to(KernelStep& step) const {
    step.spectra = spectra_.device.data();
    step.first = first_.device.data();
  }

 private:
  TwoSided<Bin> bins_;
  TwoSided<const Bin*> spectra_;
  TwoSided<std::uint32_t> first_;
};

/// The vectors packed for each sky point.
class PackedSky {
 public:
  explicit PackedSky(const Observation& seen)
      : timings_{seen.signals()}, antennas_{seen.signals()}, matrices_{seen.problem.stacks} {}

  /// Packs a sky point, and spectra where there are some, and queues the copies. Waits for what the
  /// queue has: it may read what is packed over.
  void bring(const DevicePass& pass, std::uint32_t sky, PackedSpectra* spectra, Queue& queue) {
    queue.wait();
    Packed places{.timings = timings_.host.span(),
                  .antennas = antennas_.host.span(),
                  .matrices = matrices_.host.span()};
    if (spectra != nullptr) spectra->add_to(places);
    {
      const HostPhase packing = queue.on_host(StepPhase::build);
      pack(*pass.pieces, *pass.seen, sky, places);
    }
    if (spectra != nullptr) spectra->copy_in(queue);
    queue.copy_in(timings_);
    queue.copy_in(antennas_);
    queue.copy_in(matrices_);
  }
  void add_to(KernelStep& step) const {
    step.timings = timings_.device.data();
    step.antennas = antennas_.device.data();
    step.matrices = matrices_.device.data();
  }

 private:
  TwoSided<Timing> timings_;
  TwoSided<Antenna> antennas_;
  TwoSided<Matrix> matrices_;
};

/// An observation's vectors as seen from a sky point.
struct PackedVectorsOnDevice {
  PackedSpectra spectra;
  PackedSky sky;

  explicit PackedVectorsOnDevice(const Observation& seen) : spectra{seen}, sky{seen} {}
  void add_to(KernelStep& step) const {
    spectra.add_to(step);
    sky.add_to(step);
  }
};

/// Packing and copying of spectra.
enum class Spectra { each_sky_point, once };

/// A rung that packs each sky point and then calls sum(pass, sky, step, queue), where the step's
/// vectors are.
template <class Sum>
[[nodiscard]] auto packed_run(const Observation& seen, Spectra when, const Sum& sum) {
  const auto vectors = std::make_shared<PackedVectorsOnDevice>(seen);
  return [=](const DevicePass& pass, Queue& queue) {
    for (std::uint32_t sky = 0; sky < pass.problem().sky; ++sky) {
      const bool with_spectra = sky == 0 || when == Spectra::each_sky_point;
      vectors->sky.bring(pass, sky, with_spectra ? &vectors->spectra : nullptr, queue);
      sum(pass, sky, *vectors, queue);
    }
  };
}
/// The same for each cell: sum(step, queue) sums all bands of a cell, which are then copied out.
template <class Sum>
[[nodiscard]] auto packed_cells(const Observation& seen, Spectra when, const Sum& sum) {
  return packed_run(
      seen, when,
      [sum](const DevicePass& pass, std::uint32_t sky, const auto& vectors, Queue& queue) {
        const Problem& p = pass.problem();
        for (std::uint32_t cell = 0; cell < p.cells; ++cell) {
          KernelStep step = pass.step(sky, cell, 0);
          vectors.add_to(step);
          sum(step, queue);
          queue.copy_out(*pass.two_f, pass.result(sky, cell),
                         std::size_t{p.stacks} * p.frequencies);
        }
      });
}
/// The same with a block for each template of the cell, a thread for each of its signals.
[[nodiscard]] inline DeviceKernel signal_sums_of_cells(const Observation& seen, Spectra when) {
  const std::uint32_t signals = seen.longest_group();
  const Problem p = seen.problem;
  return {.run = packed_cells(seen, when,
                              [=](const KernelStep& step, Queue& queue) {
                                queue_signal_sums(queue, step, p.frequencies, p.stacks, signals,
                                                  p.detectors);
                              }),
          .kernels = {signal_sums()},
          .block = signals * p.detectors};
}

}  // namespace strata::fstat
