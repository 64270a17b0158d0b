// Launches of the streaming kernel in any shape, shared by `bandwidth` and `peak_bandwidth`.
#pragma once

#include "harness/cuda/cuda_machine.hpp"
#include "micro/bandwidth/bandwidth.hpp"

namespace strata::bandwidth {

struct Pool;

class StreamLaunches {
 public:
  explicit StreamLaunches(Session& session);

  /// Bytes per second of all SMs, from a short and a long launch that are not verified. 0 if the
  /// SMs cannot hold the shape.
  [[nodiscard]] double try_rate(Plan plan);
  /// Measures the case by the engine. Throws Skipped if the SMs cannot hold the shape.
  void measure(Plan plan);

 private:
  void fill_pool();
  const void* complete(Slope& slope, Plan& plan);
  double lone_round(LaunchShape shape);

  Session& session_;
  GpuFacts gpu_;
  CudaMachine machine_;
  Pool& pool_;
};

}  // namespace strata::bandwidth
