// Arguments of kernels, and the launch of the kernel that several rungs share.
#pragma once

#include "nbody/fstat/problem/elements.hpp"

#include <cstdint>

namespace strata {
class Queue;
}

namespace strata::fstat {

/// Optional per-launch counters.
struct Work {
  unsigned long long terms = 0;
  unsigned long long idle_threads = 0;  ///< without any
};

/// Templates of a launch, of which the first is given, and what is summed for them. All pointers
/// are the GPU's.
struct KernelStep {
  Grid grid;
  const Bin* const* spectra = nullptr;   ///< of each signal
  const Timing* timings = nullptr;       ///< likewise
  const Antenna* antennas = nullptr;     ///< likewise
  const std::uint32_t* first = nullptr;  ///< signal of each group; null: `signals` of one group
  const Matrix* matrices = nullptr;      ///< of each stack
  float* two_f = nullptr;                ///< of each template of the launch; null: not needed
  Sums* sums = nullptr;                  ///< likewise
  Work* work = nullptr;                  ///< added to; null: not needed
  std::uint32_t signals = 0;
  std::uint32_t detectors = 1;
  std::uint32_t frequencies = 0;  ///< of a stack
  std::uint32_t stacks = 0;       ///< of a cell
  std::uint32_t cells = 0;        ///< of the launch
  std::uint32_t cell = 0;
  std::uint32_t stack = 0;
  std::uint32_t frequency = 0;
};

/// Queues the sums of so many frequencies of so many stacks, a block for each, with a thread for
/// each signal of each detector.
void queue_signal_sums(Queue& queue, const KernelStep& step, std::uint32_t frequencies,
                       std::uint32_t stacks, std::uint32_t signals, std::uint32_t detectors);
/// The code of that kernel.
[[nodiscard]] const void* signal_sums();

}  // namespace strata::fstat
