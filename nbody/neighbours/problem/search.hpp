// The reference of every rung: the neighbours of each agent, in double precision. Host only.
#pragma once

#include "nbody/neighbours/problem/problem.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace strata::neighbours {

/// Positions of agents.
using Places = std::array<std::vector<double>, 3>;
[[nodiscard]] Places places_of(const Agents& agents);
[[nodiscard]] double squared_distance(const Places& places, std::size_t i, std::size_t j);

/// The neighbours of every agent, each list in ascending order.
struct Lists {
  std::vector<std::uint64_t> first = {0};  ///< begin of each list in `ids`; one more at the end
  std::vector<std::uint32_t> ids;

  [[nodiscard]] std::size_t size() const { return first.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t i) const {
    return std::span{ids}.subspan(first[i], first[i + 1] - first[i]);
  }
  bool operator==(const Lists&) const = default;
};

struct Found {
  Lists lists;
  std::vector<std::uint32_t> tied;  ///< whose 7th and 8th neighbours are equally near
};
/// All within reach, or the nearest of them, on all CPUs. Of equally near ones the first counts.
[[nodiscard]] Found search(const Places& places, double radius_squared, bool nearest);

/// Number of agents whose neighbours differ from the reference. `found` gives those of an agent in
/// any order. `slack`: a pair in only one of them is not an error if its squared distance equals,
/// within this relative tolerance, that of the reach or of the farthest of the nearest; 0 for
/// agents on the lattice.
[[nodiscard]] std::size_t agents_with_wrong_neighbours(
    const Places& places, double radius_squared, bool nearest, const Lists& right,
    const std::function<std::span<const std::uint32_t>(std::size_t)>& found, double slack);

}  // namespace strata::neighbours
