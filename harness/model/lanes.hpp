// Which element each lane of a warp reads: a stride, a misalignment and an order of the lanes.
// Host only.
#pragma once

#include "harness/model/coalescing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

namespace strata {

/// Who reads what within the warp; the elements that are read stay the same.
enum class Permutation { identity, reversed, random };

/// Their names, in the order of the enumeration.
inline constexpr std::array<std::string_view, 3> permutation_names{"identity", "reversed",
                                                                   "random"};
[[nodiscard]] inline std::optional<Permutation> permutation_from(std::string_view name) {
  for (std::size_t i = 0; i < permutation_names.size(); ++i) {
    if (permutation_names[i] == name) return static_cast<Permutation>(i);
  }
  return std::nullopt;
}

/// Element of each lane, counted from an aligned origin: (place of the lane) × stride +
/// misalignment. The random order is one of its own, the same on every machine.
[[nodiscard]] inline std::array<std::uint64_t, warp_lanes> lane_elements(std::uint64_t stride,
                                                                         std::uint64_t misalignment,
                                                                         Permutation permutation) {
  std::array<std::uint64_t, warp_lanes> places{};
  std::iota(places.begin(), places.end(), 0U);
  if (permutation == Permutation::reversed) std::ranges::reverse(places);
  if (permutation == Permutation::random) {
    // Fisher and Yates by hand: std::shuffle differs between libraries. The bias of a remainder is
    // 2^-27 at most.
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
  WarpAccess access{.width = width, .addresses = {}};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    access.addresses[lane] = width * elements[lane];
  return access;
}

}  // namespace strata
