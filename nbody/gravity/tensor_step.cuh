// A step on tensor cores, of which several GPUs may each have a share. Every GPU holds all bodies
// and sorts them, which gives all the same order; then each adds up the pulls of its share of the
// pairs, each pair once among them all, and ends the step of some bodies with the sums of all.
#pragma once

#include "nbody/gravity/rung_kernels.cuh"

namespace strata::nbody::tensor {

/// The axis of what is far.
[[nodiscard]] inline Axis ratio_axis() {
  return numbers("ratio", "distance of groups over the sum of their radii that makes them far",
                 {"1.25", "1.5", "2"}, {"1.25", "1.5"});
}

}  // namespace strata::nbody::tensor

#if defined(__CUDACC__)
#include <array>
#include <cstdint>
#include <functional>

namespace strata::nbody::tensor {

/// Which share of the pairs a GPU has.
struct Share {
  std::uint32_t rank = 0;
  std::uint32_t of = 1;
};

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
[[nodiscard]] SharedStep shared_step(std::uint32_t systems, std::uint32_t bodies, float ratio,
                                     Share share);

}  // namespace strata::nbody::tensor
#endif
