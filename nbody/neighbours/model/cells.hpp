// Cubic cells that divide a world: the static grid of Breitbart 2008, ch. 6. Host and device.
#pragma once

#include <cmath>
#include <cstdint>

namespace strata::neighbours {

/// Most cells a dimension that a case may ask for; their beginnings then take 64 MiB.
inline constexpr std::uint32_t most_cells = 256;

/// Cells along one axis, both ends included.
struct Around {
  std::uint32_t first;
  std::uint32_t last;
};

/// How long cells are, how many there are a dimension, and which of them an agent reaches. An agent
/// outside of the world belongs to the cell at the border that is nearest: who is within reach of
/// it stays within `reach` cells of it.
struct Cells {
  float low = 0;            ///< the smallest coordinate of the world
  float length = 1;         ///< of an edge
  float per_length = 1;     ///< 1 / length
  std::uint32_t count = 1;  ///< a dimension
  std::uint32_t reach = 1;  ///< cells to each side that may hold neighbours
  float limit = 1;          ///< squared distance from which on a cell is out of reach

  [[nodiscard]] std::uint32_t of(float coordinate) const {
    const float at = (coordinate - low) * per_length;
    if (!(at > 0)) return 0;
    const auto most = static_cast<float>(count - 1);
    return at < most ? static_cast<std::uint32_t>(at) : count - 1;
  }
  /// Those that an agent there may reach.
  [[nodiscard]] Around around(float coordinate) const {
    const std::uint32_t mine = of(coordinate);
    return {mine > reach ? mine - reach : 0, mine + reach < count ? mine + reach : count - 1};
  }
};

/// So many cells a dimension for a reach; 0: as many as are still longer than the reach, so that
/// only cells side by side hold neighbours. `reach` is floor(r / length + 1): a cell that begins
/// just within reach counts, whatever part of it is. The reach is taken a little longer than it is,
/// so that no rounding of the place of an agent or a cell costs a neighbour.
[[nodiscard]] inline Cells cells_of(float low, float extent, double radius, std::uint32_t asked) {
  const double safe = radius * 1.00005 + static_cast<double>(extent) * 0x1p-20;
  const double fit = std::ceil(static_cast<double>(extent) / safe) - 1;
  double count = asked > 0 ? asked : fit;
  count = count < 1 ? 1 : count > most_cells ? most_cells : count;
  const double length = static_cast<double>(extent) / count;
  return {.low = low,
          .length = static_cast<float>(length),
          .per_length = static_cast<float>(1 / length),
          .count = static_cast<std::uint32_t>(count),
          .reach = static_cast<std::uint32_t>(std::floor(safe / length + 1)),
          .limit = static_cast<float>(safe * safe)};
}

/// How far `coordinate` is, along one axis, from the nearest point of a cell, squared. The cells at
/// the border go on for ever: agents outside belong to them.
[[nodiscard]] inline float squared_distance_to_cell(const Cells& cells, float coordinate,
                                                    std::uint32_t cell) {
  const float begin = cells.low + static_cast<float>(cell) * cells.length;
  const float end = begin + cells.length;
  float off = 0;
  if (coordinate < begin && cell > 0) off = begin - coordinate;
  if (coordinate > end && cell + 1 < cells.count) off = coordinate - end;
  return off * off;
}

}  // namespace strata::neighbours
