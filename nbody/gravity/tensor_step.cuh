// A step on tensor cores, of which several GPUs may each have a share. Every GPU holds all bodies
// and sorts them, which gives the same order on all. Each then adds up the forces of its share of
// the pairs, each pair once among all GPUs, and ends the step of some bodies with the sums of all
// GPUs.
#pragma once

#include "nbody/gravity/rung_kernels.cuh"

#include <array>
#include <cstdint>
#include <functional>

namespace strata::nbody::tensor {

/// The computation, and this GPU's share of the pairs.
struct StepOptions {
  std::uint32_t systems = 1;
  std::uint32_t bodies = 0;
  float ratio = 0;
  std::size_t sort_every = 1;  ///< steps of a sample that use the same order
  std::uint32_t rank = 0;
  std::uint32_t gpus = 1;
};
/// The shares of a case on one GPU.
[[nodiscard]] inline StepOptions options_of(const Session& session, const Problem& problem) {
  return {.systems = problem.systems,
          .bodies = problem.bodies,
          .ratio = std::stof(session.param("ratio")),
          .sort_every = static_cast<std::size_t>(session.whole("sort_every"))};
}

/// The sums of other GPUs, as this one reads them.
struct OtherSums {
  std::array<const float4*, 7> sums{};
  std::uint32_t count = 0;
};

struct SharedStep {
  /// Queues the summation of this share's pairs.
  std::function<void(const Step&, cudaStream_t)> add_pairs;
  /// Queues the end of the step for bodies `begin` to `end` (exclusive) of each system. The sums of
  /// all GPUs must be complete.
  std::function<void(const Work&, const OtherSums&, cudaStream_t)> end_step;
  const float4* sums = nullptr;  ///< of this share, in sorted order
};

/// Allocates memory on the current device. Throws Skipped if that fails.
[[nodiscard]] SharedStep shared_step(const StepOptions& options);

}  // namespace strata::nbody::tensor
