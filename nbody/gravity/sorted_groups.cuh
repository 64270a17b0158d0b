// Bodies in the order of a curve through space, in groups of 64 that are small: a box around each
// system, keys, a sort and the groups, all on the device, inside of the step that needs them.
#pragma once

#include "nbody/gravity/rung_kernels.cuh"
#include "nbody/gravity/tensor_pieces.hpp"

#if defined(__CUDACC__)
#include <cstddef>
#include <functional>

namespace strata::nbody::tensor {

/// What the scale of a system and the limit of its masses come from.
struct Survey {
  float mass;
  int exponents;  ///< of all radii above 0, added up,
  int groups;     ///< and how many those are
};

/// Systems are filled up to whole tiles with bodies that have no mass, each at the place of the
/// system's last one.
struct Groups {
  float4* bodies;         ///< place and mass
  float4* spheres;        ///< of each group the centre of mass and the radius,
  float* masses;          ///< and its mass
  float4* accelerations;  ///< 0, for whom adds to them
  std::uint32_t* order;   ///< which of all bodies each one is; systems are not filled up
  Survey* surveys;        ///< of each system
  std::uint32_t padded;   ///< bodies of a system, filled up
};

/// Bodies that fill up a system to whole tiles.
[[nodiscard]] inline std::uint32_t padded_for(std::uint32_t bodies) {
  return blocks_for(bodies, tile_bodies) * tile_bodies;
}

/// Launches what puts the bodies of a step, in the layout soaoas, into the groups: sorted, or
/// (`again`) in the order that they had, which is right wherever they went, but groups grow.
using SortBodies = std::function<void(const Work&, bool again, cudaStream_t)>;
struct SortedGroups {
  Groups groups;
  SortBodies sort;  ///< owns what the groups lie in
};
[[nodiscard]] SortedGroups sorted_groups(std::uint32_t systems, std::uint32_t bodies);

}  // namespace strata::nbody::tensor
#endif
