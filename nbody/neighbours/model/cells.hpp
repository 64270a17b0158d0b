// Cubic cells that divide a world: the static grid of Breitbart 2008, ch. 6. Host and device.
#pragma once

#include "nbody/neighbours/problem/motion.hpp"

#include <cmath>
#include <cstdint>

namespace strata::neighbours {

/// Maximum cells per dimension of a case; their offsets then take 64 MiB.
inline constexpr std::uint32_t most_cells = 256;

/// Cells along one axis, both ends inclusive.
struct Around {
  std::uint32_t first;
  std::uint32_t last;
};

/// Cell length, cells per dimension, and the cells that an agent reaches. An agent outside the
/// world belongs to the nearest border cell: all within reach of it stay within `reach` cells of
/// it.
struct Cells {
  float low = 0;            ///< smallest coordinate of the world
  float length = 1;         ///< of a cell's edge
  float per_length = 1;     ///< 1 / length
  std::uint32_t count = 1;  ///< a dimension
  std::uint32_t reach = 1;  ///< cells to each side that may hold neighbours
  float limit = 1;          ///< squared distance from which on a cell is out of reach

  [[nodiscard]] STRATA_BOTH std::uint32_t of(float coordinate) const {
    const float at = (coordinate - low) * per_length;
    if (!(at > 0)) return 0;
    const auto most = static_cast<float>(count - 1);
    return at < most ? static_cast<std::uint32_t>(at) : count - 1;
  }
  /// The cells that an agent there may reach.
  [[nodiscard]] STRATA_BOTH Around around(float coordinate) const {
    const std::uint32_t mine = of(coordinate);
    return {mine > reach ? mine - reach : 0, mine + reach < count ? mine + reach : count - 1};
  }
  /// Number of all cells, x before y before z.
  [[nodiscard]] STRATA_BOTH std::uint32_t row(std::uint32_t y, std::uint32_t z) const {
    return (z * count + y) * count;
  }
  [[nodiscard]] STRATA_BOTH std::uint32_t of(const Vector<float>& place) const {
    return row(of(place.y), of(place.z)) + of(place.x);
  }
  [[nodiscard]] std::uint32_t all() const { return count * count * count; }
};

/// The reach, slightly enlarged, so that no rounding of a position or a cell costs a neighbour.
[[nodiscard]] inline double safe_reach(float extent, double radius) {
  return radius * 1.00005 + static_cast<double>(extent) * 0x1p-20;
}

/// That many cells per dimension for a reach; 0: as many as are still longer than the reach, so
/// that only adjacent cells hold neighbours. `reach` is floor(r / length + 1): a cell that begins
/// just within reach counts.
[[nodiscard]] inline Cells cells_of(float low, float extent, double radius,
                                    std::uint32_t requested) {
  const double safe = safe_reach(extent, radius);
  const double fit = std::ceil(static_cast<double>(extent) / safe) - 1;
  double count = requested > 0 ? requested : fit;
  count = count < 1 ? 1 : count > most_cells ? most_cells : count;
  const double length = static_cast<double>(extent) / count;
  return {.low = low,
          .length = static_cast<float>(length),
          .per_length = static_cast<float>(1 / length),
          .count = static_cast<std::uint32_t>(count),
          .reach = static_cast<std::uint32_t>(std::floor(safe / length + 1)),
          .limit = static_cast<float>(safe * safe)};
}

/// Squared distance of `coordinate`, along one axis, from the nearest point of a cell. Border cells
/// extend to infinity, because agents outside belong to them.
[[nodiscard]] STRATA_BOTH inline float squared_distance_to_cell(const Cells& cells,
                                                                float coordinate,
                                                                std::uint32_t cell) {
  const float begin = cells.low + static_cast<float>(cell) * cells.length;
  const float end = begin + cells.length;
  float off = 0;
  if (coordinate < begin && cell > 0) off = begin - coordinate;
  if (coordinate > end && cell + 1 < cells.count) off = coordinate - end;
  return off * off;
}

/// Calls visit(cell) for every cell that an agent at `me` may reach, one by one.
template <class Visit>
STRATA_BOTH inline void visit_cells(const Cells& cells, const Vector<float>& me,
                                    const Visit& visit) {
  const Around x = cells.around(me.x);
  const Around y = cells.around(me.y);
  const Around z = cells.around(me.z);
  for (std::uint32_t at_z = z.first; at_z <= z.last; ++at_z) {
    const float off_z = squared_distance_to_cell(cells, me.z, at_z);
    for (std::uint32_t at_y = y.first; at_y <= y.last; ++at_y) {
      const float off_yz = off_z + squared_distance_to_cell(cells, me.y, at_y);
      const std::uint32_t row = cells.row(at_y, at_z);
      for (std::uint32_t at_x = x.first; at_x <= x.last; ++at_x) {
        if (off_yz + squared_distance_to_cell(cells, me.x, at_x) >= cells.limit) continue;
        visit(row + at_x);
      }
    }
  }
}

/// Calls visit(first, last) with the first and the last cell of every row along x that an agent at
/// `me` may reach. On a GPU, the threads of a warp visit a row together, and a thread that cannot
/// reach it waits. If each thread advanced to its own next row, the warp would reconverge only
/// after the search, and its threads would search one after the other.
template <class Visit>
STRATA_BOTH inline void visit_rows(const Cells& cells, const Vector<float>& me,
                                   const Visit& visit) {
  const Around x = cells.around(me.x);
  const Around y = cells.around(me.y);
  const Around z = cells.around(me.z);
  for (std::uint32_t at_z = z.first; at_z <= z.last; ++at_z) {
    const float off_z = squared_distance_to_cell(cells, me.z, at_z);
    for (std::uint32_t at_y = y.first; at_y <= y.last; ++at_y) {
      if (off_z + squared_distance_to_cell(cells, me.y, at_y) >= cells.limit) continue;
      const std::uint32_t row = cells.row(at_y, at_z);
      visit(row + x.first, row + x.last);
    }
  }
}

/// The same rows, one after the other, for a CPU. Without a visitor, because one with vectors would
/// not be inlined.
class Rows {
 public:
  STRATA_BOTH Rows(const Cells& cells, const Vector<float>& me)
      : cells_{cells},
        me_{me},
        x_{cells.around(me.x)},
        y_{cells.around(me.y)},
        z_{cells.around(me.z)},
        at_y_{y_.first},
        at_z_{z_.first} {}

  /// The first and the last cell of the next row; false if there is none.
  STRATA_BOTH bool next(std::uint32_t& first, std::uint32_t& last) {
    for (; at_z_ <= z_.last; ++at_z_, at_y_ = y_.first) {
      const float off_z = squared_distance_to_cell(cells_, me_.z, at_z_);
      while (at_y_ <= y_.last) {
        const std::uint32_t y = at_y_++;
        if (off_z + squared_distance_to_cell(cells_, me_.y, y) >= cells_.limit) continue;
        const std::uint32_t row = cells_.row(y, at_z_);
        first = row + x_.first;
        last = row + x_.last;
        return true;
      }
    }
    return false;
  }
  /// The first cell of the row whose `first` was returned.
  [[nodiscard]] STRATA_BOTH std::uint32_t begin_of(std::uint32_t first) const {
    return first - x_.first;
  }

 private:
  const Cells& cells_;
  Vector<float> me_;
  Around x_;
  Around y_;
  Around z_;
  std::uint32_t at_y_;
  std::uint32_t at_z_;
};

}  // namespace strata::neighbours
