// Groups that interact on tensor cores: a bit for each pair, tested by tiles first.
#pragma once

#include "nbody/gravity/tensor_sums.cuh"

namespace strata::nbody::tensor {

/// A block tests which groups of a tile are far from those with which they interact; other pairs
/// are not tested, and their bits stay set. Coordinates are relative to the centre of the first
/// tile. Most groups are far from the whole tile, and are tested once instead of eight times.
__device__ __forceinline__ void far_of_tile(const Pairs& all, std::uint32_t* far) {
  const unsigned lane = threadIdx.x % lanes;
  const std::uint32_t groups = all.cut.tiles * warps;
  const std::uint32_t tile = all.cut.own_tile(blockIdx.x);
  if (tile >= all.cut.tiles) return;
  const float4* const spheres = all.groups.spheres + std::size_t{blockIdx.y} * groups;
  const auto own = [&](unsigned g) { return sphere_of(spheres[tile * warps + g]); };
  const Sphere centre =
      sphere_of(all.centres[blockIdx.y * all.cut.sets + tile / all.cut.tiles_of_set]);
  const Hull hull = hull_of(own, centre);
  const float length = all.scales[blockIdx.y].length;
  const auto is_far_from = [&](const auto& mine, const Sphere& other) {
    return is_far(apart(mine, other, centre), all.ratio, all.softening_squared, length);
  };
  far += (std::size_t{blockIdx.y} * groups + tile * warps + lane % warps) * all.cut.words;
  for (std::uint32_t k = blockIdx.z * warps + threadIdx.x / lanes; k < words_of_half(all.cut);
       k += gridDim.z * warps) {
    const std::uint32_t word = (tile * warps / lanes + k) % all.cut.words;
    const std::uint32_t number = word * lanes + lane;
    const std::uint32_t of_tile = number / warps;
    const Sphere other = sphere_of(spheres[min(number, groups - 1)]);
    const bool unsure =
        number < groups && meets(tile, of_tile, all.cut.tiles) && !is_far_from(hull, other);
    std::uint32_t bits = whole_warp;
    if (__any_sync(whole_warp, unsure || of_tile == tile)) {
      for (unsigned g = 0; g < warps; ++g) {
        const bool is =
            of_tile == tile ? number < tile * warps + g : !unsure || is_far_from(own(g), other);
        const unsigned found = __ballot_sync(whole_warp, is);
        if (lane == g) bits = found;
      }
    }
    if (lane < warps) far[word] = bits;
  }
}

}  // namespace strata::nbody::tensor
