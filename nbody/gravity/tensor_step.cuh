// A step on tensor cores, of which several GPUs may each have a share. Every GPU holds all bodies
// and sorts them, which gives all the same order; then each adds up the pulls of its share of the
// pairs, each pair once among them all, and ends the step of some bodies with the sums of all.
#pragma once

#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::tensor {

/// The axis of what is far.
[[nodiscard]] inline Axis ratio_axis() {
  return numbers("ratio", "minimum distance of far groups, over the sum of their radii",
                 {"1.125", "1.25", "1.5", "2"}, {"1.125", "1.25"});
}
/// The axis of how long an order lasts.
[[nodiscard]] inline Axis sort_axis() {
  return numbers("sort_every", "steps between two sorts of the bodies", {"1", "4", "16", "80"},
                 {"1"});
}

}  // namespace strata::nbody::tensor

#if defined(__CUDACC__)
#include <array>
#include <cstdint>
#include <functional>

namespace strata::nbody::tensor {

/// What is computed, and which share of the pairs is this GPU's.
struct StepOptions {
  std::uint32_t systems = 1;
  std::uint32_t bodies = 0;
  float ratio = 0;
  std::size_t sort_every = 1;  ///< steps of a sample for which an order lasts
  std::uint32_t rank = 0;
  std::uint32_t gpus = 1;
};
/// Those of a case on one GPU.
[[nodiscard]] inline StepOptions options_of(const Session& session, const Problem& problem) {
  return {.systems = problem.systems,
          .bodies = problem.bodies,
          .ratio = std::stof(session.param("ratio")),
          .sort_every = static_cast<std::size_t>(session.whole("sort_every"))};
}

/// What other GPUs added up, where this one reads it.
struct OtherSums {
  std::array<const float4*, 7> sums{};
  std::uint32_t count = 0;
};

struct SharedStep {
  /// Queues the sums of this share's pairs.
  std::function<void(const Step&, cudaStream_t)> add_pairs;
  /// Queues the end of the step for the bodies from `begin` to before `end` of each system. The
  /// sums of all GPUs must be there.
  std::function<void(const Work&, const OtherSums&, cudaStream_t)> end_step;
  const float4* sums = nullptr;  ///< of this share, in the order of the sorted bodies
};

/// Takes memory on the current device. Throws Skipped where that cannot do it.
[[nodiscard]] SharedStep shared_step(const StepOptions& options);

}  // namespace strata::nbody::tensor
#endif
