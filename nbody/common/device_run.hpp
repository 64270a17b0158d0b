// Timing of a rung's samples on a GPU.
#pragma once

#include "harness/cuda/cuda_machine.hpp"
#include "harness/measure/experiment.hpp"

#include <functional>
#include <vector>

namespace strata {

/// The GPU of a session, and its facts.
class DeviceRun {
 public:
  explicit DeviceRun(Session& session);

  [[nodiscard]] CudaMachine& machine() { return machine_; }
  [[nodiscard]] const Stream& stream() { return machine_.stream(); }
  [[nodiscard]] const GpuFacts& gpu() const { return gpu_; }
  /// Registers, shared memory and threads of a block of the main kernel.
  [[nodiscard]] Facts facts_of(const void* kernel, unsigned threads) const;
  /// Queues a mark of each SM's timer, or of those that `blocks` run on.
  void mark(unsigned number, unsigned blocks = 0);
  /// Takes a sample that work() queues: its seconds by events.
  [[nodiscard]] double seconds(const std::function<void()>& work);
  /// Measures `kernels`: restore() precedes each sample, which work() queues. Numbers of a sample:
  /// seconds by events, by the timer that all SMs share, the SMs' clock, and seconds of the caller.
  /// before() and after() queue what only the caller's time includes; they may be empty.
  void measure(Session& session, Experiment experiment, const std::vector<const void*>& kernels,
               const std::function<void()>& restore, const std::function<void()>& work,
               const std::function<void()>& before = nullptr,
               const std::function<void()>& after = nullptr);

 private:
  GpuFacts gpu_;
  CudaMachine machine_;
};

}  // namespace strata
