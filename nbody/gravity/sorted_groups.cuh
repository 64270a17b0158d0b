// Bodies ordered along a space-filling curve, in small groups of 64: a bounding box for each
// system, keys, a sort and the groups, all on the device, as part of the step that needs them.
#pragma once

#include "nbody/gravity/rung_kernels.cuh"
#include "nbody/gravity/tensor_pieces.hpp"

#include <cstddef>
#include <functional>

namespace strata::nbody::tensor {

/// The inputs for the scale of a system and the limit of its masses.
struct Survey {
  float mass;
  int exponents;  ///< sum of the exponents of all positive radii
  int groups;     ///< number of positive radii
};

/// Systems are padded to whole tiles with massless bodies at the position of the system's last
/// body.
struct Groups {
  float4* bodies;         ///< position and mass
  float4* spheres;        ///< centre of mass and radius of each group
  float* masses;          ///< of the groups
  float4* accelerations;  ///< 0, to be accumulated into
  std::uint32_t* order;   ///< original index of each body; systems are not padded
  Survey* surveys;        ///< of each system
  std::uint32_t padded;   ///< bodies of a system, padded
};

/// Bodies that pad a system to whole tiles.
[[nodiscard]] inline std::uint32_t padded_for(std::uint32_t bodies) {
  return blocks_for(bodies, tile_bodies) * tile_bodies;
}

/// Launches the grouping of a step's bodies, in the layout soaoas: sorted, or (`again`) in the
/// previous order, which stays valid wherever the bodies moved, but groups grow.
using SortBodies = std::function<void(const Work&, bool again, cudaStream_t)>;
struct SortedGroups {
  Groups groups;
  SortBodies sort;  ///< owns the memory of the groups
};
[[nodiscard]] SortedGroups sorted_groups(std::uint32_t systems, std::uint32_t bodies);

}  // namespace strata::nbody::tensor
