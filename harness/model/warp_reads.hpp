// The accesses by which a warp reads 32 particles of a layout: what the coalescing model is asked.
// Host only.
#pragma once

#include "harness/model/coalescing.hpp"
#include "harness/model/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata {

/// The loads of a warp whose lane k reads the wanted fields of particle `first_particle` + k, in
/// the order of L::reads; reads without wanted fields are left out. `particles` is how many the
/// storage holds: lanes beyond it take no part. `base` is the byte address of the storage and a
/// multiple of 256, as every allocation is, lest reads straddle what they do not straddle on a
/// device.
///
/// With a multiple of 32 for both counts, each group of 32 particles of a storage asks for the same
/// traffic: every array and every block then begins at a line of 128 bytes.
template <Layout L, class Fields>
[[nodiscard]] std::vector<WarpAccess> warp_reads(std::size_t first_particle, std::size_t particles,
                                                 std::uint64_t base) {
  constexpr unsigned word_bytes = 4;
  std::vector<WarpAccess> accesses;
  for (std::size_t r = 0; r < L::reads.size(); ++r) {
    const Issue issue = issued<L, Fields>(r);
    if (issue.words == 0) continue;
    WarpAccess access{.width = word_bytes * issue.words};
    for (std::size_t lane = 0; lane < warp_lanes && first_particle + lane < particles; ++lane) {
      const std::size_t word = L::first_word(r, first_particle + lane, particles) + issue.offset;
      access.addresses[lane] = base + word_bytes * std::uint64_t{word};
    }
    accesses.push_back(access);
  }
  return accesses;
}

/// What a warp asks for to read the wanted fields of 32 particles: a group that stands for all.
/// Here bytes_used are those of the wanted fields alone, 28 or 16 a particle: a padding word, or a
/// velocity that a wide load brings along, is moved and not used.
template <Layout L, class Fields>
[[nodiscard]] SequenceTraffic warp_read_traffic(Generation generation) {
  SequenceTraffic sum = traffic(generation, warp_reads<L, Fields>(0, warp_lanes, 0));
  sum.total.bytes_used = warp_lanes * useful_bytes<Fields>;
  return sum;
}

}  // namespace strata
