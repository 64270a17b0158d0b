// The accesses of a warp: the element that each lane reads, by a stride and an order of the lanes,
// or by a particle layout.
#pragma once

#include "harness/case/choices.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/layout.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace strata {

/// The order of the lanes; the elements that are read stay the same.
enum class Permutation { identity, reversed, random };
inline constexpr auto permutations = choices_of<Permutation>("identity", "reversed", "random");

/// Element of each lane, relative to an aligned origin: (position of the lane) × stride +
/// misalignment. The random order is the same on every machine.
[[nodiscard]] inline std::array<std::uint64_t, warp_lanes> lane_elements(std::uint64_t stride,
                                                                         std::uint64_t misalignment,
                                                                         Permutation permutation) {
  std::array<std::uint64_t, warp_lanes> places{};
  std::iota(places.begin(), places.end(), 0U);
  if (permutation == Permutation::reversed) std::ranges::reverse(places);
  if (permutation == Permutation::random) {
    // Fisher and Yates by hand, because std::shuffle differs between libraries. The bias of a
    // remainder is at most 2^-27.
    constexpr std::uint32_t seed = 32;
    std::mt19937 generator{seed};
    for (std::uint32_t i = warp_lanes - 1; i > 0; --i)
      std::swap(places[i], places[generator() % (i + 1)]);
  }
  for (auto& place : places)
    place = place * stride + misalignment;
  return places;
}

/// The load of a warp whose lanes read these elements of `width` bytes, from address 0 on.
[[nodiscard]] inline WarpAccess access_of(unsigned width,
                                          const std::array<std::uint64_t, warp_lanes>& elements) {
  WarpAccess access{.width = width};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    access.addresses[lane] = width * elements[lane];
  return access;
}

/// The loads of a warp whose lane k reads the wanted fields of particle `first_particle` + k, in
/// the order of L::reads; reads without wanted fields are left out. `particles` is the number of
/// particles in the storage; lanes beyond it take no part. `base` is the byte address of the
/// storage and a multiple of 256, as for every allocation.
///
/// If both counts are multiples of 32, each group of 32 particles has the same traffic, because
/// every array and every block then begins at a 128-byte line.
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

/// The traffic of a warp that reads the wanted fields of 32 particles: one group represents all.
/// bytes_used are only those of the wanted fields, 28 or 16 per particle: a padding word, or a
/// velocity in a wide load, is moved but not used.
template <Layout L, class Fields>
[[nodiscard]] SequenceTraffic warp_read_traffic(Generation generation) {
  SequenceTraffic sum = traffic(generation, warp_reads<L, Fields>(0, warp_lanes, 0));
  sum.total.bytes_used = warp_lanes * useful_bytes<Fields>;
  return sum;
}

}  // namespace strata
