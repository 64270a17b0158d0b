#include "nbody/neighbours/model/tests.hpp"

#include "harness/base/in_parallel.hpp"
#include "nbody/neighbours/model/cells.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace strata::neighbours {
namespace {

/// Cells as Cells has them, in double precision.
class Grid {
 public:
  Grid(const Problem& problem, double radius, std::uint32_t requested)
      : cells_{cells_of(problem.low(), problem.extent(), radius, requested)},
        limit_{static_cast<double>(cells_.limit)},
        low_{static_cast<double>(problem.low())},
        length_{static_cast<double>(problem.extent()) / cells_.count} {}

  [[nodiscard]] std::int64_t count() const { return cells_.count; }
  [[nodiscard]] std::int64_t of(double coordinate) const {
    return std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::floor((coordinate - low_) / length_)), 0, count() - 1);
  }
  /// The cells along one axis that an agent may reach: from, to.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> around(double coordinate) const {
    const std::int64_t mine = of(coordinate);
    const auto reach = static_cast<std::int64_t>(cells_.reach);
    return {std::max<std::int64_t>(mine - reach, 0), std::min(mine + reach, count() - 1)};
  }
  /// Squared distance along one axis from a cell.
  [[nodiscard]] double off(double coordinate, std::int64_t cell) const {
    const double begin = low_ + static_cast<double>(cell) * length_;
    const double below = cell > 0 ? begin - coordinate : 0;
    const double above = cell + 1 < count() ? coordinate - begin - length_ : 0;
    const double off = std::max({below, above, 0.0});
    return off * off;
  }
  [[nodiscard]] bool reached(double squared) const { return squared < limit_; }
  /// The distance.
  [[nodiscard]] double reach() const { return std::sqrt(limit_); }

 private:
  Cells cells_;
  double limit_;
  double low_;
  double length_;
};

/// Tests of every agent.
using TestsOfAgents = std::vector<std::uint32_t>;

TestsOfAgents of_all(const Places& places,
                     const std::function<std::uint64_t(std::size_t)>& of_agent) {
  TestsOfAgents all(places.front().size());
  in_parallel(
      all.size(),
      [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
          all[i] = static_cast<std::uint32_t>(of_agent(i));
      },
      1024);
  return all;
}

std::uint64_t sum_of(const TestsOfAgents& tests) {
  return std::accumulate(tests.begin(), tests.end(), std::uint64_t{0});
}

/// Agents in all cells before each, in the order x, y, z.
std::vector<std::uint64_t> cumulative(const Grid& grid, const Places& places) {
  const auto n = static_cast<std::size_t>(grid.count());
  std::vector<std::uint64_t> before(n * n * n + 1);
  for (std::size_t i = 0; i < places.front().size(); ++i) {
    const std::int64_t cell =
        (grid.of(places[2][i]) * grid.count() + grid.of(places[1][i])) * grid.count() +
        grid.of(places[0][i]);
    ++before[static_cast<std::size_t>(cell) + 1];
  }
  for (std::size_t cell = 0; cell + 1 < before.size(); ++cell)
    before[cell + 1] += before[cell];
  return before;
}

/// Agents of the cells from `first` to `last`, in their order, from the one at `least` on.
std::uint64_t agents_in(const std::vector<std::uint64_t>& before, std::int64_t first,
                        std::int64_t last, std::uint64_t least) {
  const std::uint64_t end = before[static_cast<std::size_t>(last + 1)];
  return end - std::min(end, std::max(before[static_cast<std::size_t>(first)], least));
}

/// `each_cell`: cells are passed over one by one; else rows of them. `behind`: the position
/// of each agent in the order of cells, which then tests only those behind it; empty: all.
TestsOfAgents tests_of_cells(const Problem& problem, const Places& places, double radius,
                             std::uint32_t requested, bool each_cell,
                             const std::vector<std::uint32_t>& behind = {}) {
  const Grid grid{problem, radius, requested};
  const std::vector<std::uint64_t> before = cumulative(grid, places);
  return of_all(places, [&](std::size_t i) {
    const auto [x0, x1] = grid.around(places[0][i]);
    const auto [y0, y1] = grid.around(places[1][i]);
    const auto [z0, z1] = grid.around(places[2][i]);
    const std::uint64_t least = behind.empty() ? 0 : std::uint64_t{behind[i]} + 1;
    std::uint64_t tests = 0;
    for (std::int64_t z = z0; z <= z1; ++z) {
      for (std::int64_t y = y0; y <= y1; ++y) {
        const double off = grid.off(places[2][i], z) + grid.off(places[1][i], y);
        const std::int64_t row = (z * grid.count() + y) * grid.count();
        const auto agents = [&](std::int64_t from, std::int64_t to) {
          return agents_in(before, row + from, row + to, least);
        };
        if (!each_cell) {
          if (grid.reached(off)) tests += agents(x0, x1);
          continue;
        }
        for (std::int64_t x = x0; x <= x1; ++x) {
          if (grid.reached(off + grid.off(places[0][i], x))) tests += agents(x, x);
        }
      }
    }
    return tests;
  });
}

TestsOfAgents tests_of_columns(const Problem& problem, const Places& places, double radius,
                               std::uint32_t requested) {
  const Grid grid{problem, radius, requested};
  const auto n = static_cast<std::size_t>(grid.count());
  std::vector<std::vector<double>> heights(n * n);
  const auto column = [&](std::int64_t x, std::int64_t y) -> std::vector<double>& {
    return heights[static_cast<std::size_t>(y * grid.count() + x)];
  };
  for (std::size_t i = 0; i < places.front().size(); ++i)
    column(grid.of(places[0][i]), grid.of(places[1][i])).push_back(places[2][i]);
  for (auto& one : heights)
    std::ranges::sort(one);
  return of_all(places, [&](std::size_t i) {
    const auto [x0, x1] = grid.around(places[0][i]);
    const auto [y0, y1] = grid.around(places[1][i]);
    std::uint64_t tests = 0;
    for (std::int64_t y = y0; y <= y1; ++y) {
      for (std::int64_t x = x0; x <= x1; ++x) {
        if (!grid.reached(grid.off(places[0][i], x) + grid.off(places[1][i], y))) continue;
        const std::vector<double>& one = column(x, y);
        const auto first = std::ranges::lower_bound(one, places[2][i] - grid.reach());
        const auto last = std::ranges::upper_bound(one, places[2][i] + grid.reach());
        tests += static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(last - first, 0));
      }
    }
    return tests;
  });
}

double radius_of(const Problem& problem) {
  return std::sqrt(static_cast<double>(problem.radius_squared));
}

/// Order of the threads of a GPU.
enum class Threads { by_number, by_row, along_z_curve, along_hilbert_curve };

/// Whether a cell comes before another on a Z curve: of the coordinates that differ, the one
/// decides that differs in the highest bit, of several the last.
bool is_before_on_curve(const std::array<std::int64_t, 3>& one,
                        const std::array<std::int64_t, 3>& other) {
  std::size_t deciding = 2;
  std::int64_t highest = one[2] ^ other[2];
  for (const std::size_t c : {std::size_t{1}, std::size_t{0}}) {
    const std::int64_t differ = one[c] ^ other[c];
    if (highest >= differ || highest >= (highest ^ differ)) continue;
    deciding = c;
    highest = differ;
  }
  return one[deciding] < other[deciding];
}

/// The cell at each place of a Hilbert curve through 2^bits a dimension, read off from the place's
/// bits: the way back of Skilling, Programming the Hilbert curve, AIP 707, 2004.
std::array<std::uint32_t, 3> cell_on_hilbert_curve(std::uint32_t place, unsigned bits) {
  std::array<std::uint32_t, 3> cell{};
  for (unsigned bit = 0; bit < 3 * bits; ++bit)
    cell[2 - bit % 3] |= (place >> bit & 1U) << bit / 3;
  const std::uint32_t carried = cell[2] >> 1U;
  cell[2] ^= cell[1];
  cell[1] ^= cell[0];
  cell[0] ^= carried;
  for (std::uint32_t bit = 2; bit != 1U << bits; bit <<= 1U) {
    for (std::size_t c = 3; c-- > 0;) {
      if ((cell[c] & bit) != 0) {
        cell[0] ^= bit - 1;
        continue;
      }
      const std::uint32_t swapped = (cell[0] ^ cell[c]) & (bit - 1);
      cell[0] ^= swapped;
      cell[c] ^= swapped;
    }
  }
  return cell;
}

/// Of each cell, x before y before z in a cube of 2^bits a dimension, where it is on the curve.
std::vector<std::uint32_t> hilbert_places(unsigned bits) {
  std::vector<std::uint32_t> places(std::size_t{1} << (3 * bits));
  for (std::uint32_t place = 0; place < places.size(); ++place) {
    const auto [x, y, z] = cell_on_hilbert_curve(place, bits);
    places[((std::size_t{z} << bits | y) << bits) | x] = place;
  }
  return places;
}

/// Agents in the order of their cells; those of a cell, in that of their numbers.
std::vector<std::uint32_t> in_order_of_cells(const Problem& problem, const Places& places,
                                             double radius, std::uint32_t requested,
                                             Threads threads) {
  const Grid grid{problem, radius, requested};
  std::vector<std::uint32_t> order(places.front().size());
  std::iota(order.begin(), order.end(), 0U);
  if (threads == Threads::by_number) return order;
  const auto cell = [&](std::uint32_t i) {
    return std::array{grid.of(places[0][i]), grid.of(places[1][i]), grid.of(places[2][i])};
  };
  if (threads == Threads::along_hilbert_curve) {
    const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(grid.count() - 1, 1));
    const auto bits = static_cast<unsigned>(std::bit_width(most));
    const std::vector<std::uint32_t> on_curve = hilbert_places(bits);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
      const auto [x, y, z] = cell(i);
      return on_curve[static_cast<std::size_t>(((z << bits | y) << bits) | x)];
    });
    return order;
  }
  std::ranges::stable_sort(order, [&](std::uint32_t i, std::uint32_t j) {
    const auto one = cell(i);
    const auto other = cell(j);
    if (threads == Threads::along_z_curve) return is_before_on_curve(one, other);
    return std::ranges::lexicographical_compare(one.rbegin(), one.rend(), other.rbegin(),
                                                other.rend());
  });
  return order;
}

TestsOfAgents in_order(const std::vector<std::uint32_t>& order, const TestsOfAgents& tests) {
  TestsOfAgents ordered;
  for (const std::uint32_t i : order)
    ordered.push_back(tests[i]);
  return ordered;
}

/// Tests of `steps` steps, in warps with `lanes` lanes in all.
Predicted of_sums(std::size_t steps, std::size_t rebuilds, std::uint64_t made,
                  std::uint64_t lanes) {
  return {
      .tests = static_cast<double>(made) / static_cast<double>(steps),
      .rebuilds = static_cast<std::uint32_t>(rebuilds),
      .used = static_cast<double>(made) / static_cast<double>(std::max<std::uint64_t>(lanes, 1))};
}

/// The mean of a structure that each step builds anew.
Predicted of_each_step(const Problem& problem, std::span<const Places> steps, const Choice& choice,
                       Threads threads,
                       const std::function<TestsOfAgents(const Places&)>& tests_of) {
  std::uint64_t made = 0;
  std::uint64_t lanes = 0;
  for (const Places& places : steps) {
    const TestsOfAgents tests = tests_of(places);
    made += sum_of(tests);
    lanes += lanes_of(in_order(
        in_order_of_cells(problem, places, radius_of(problem), choice.cells, threads), tests));
  }
  return of_sums(steps.size(), steps.size(), made, lanes);
}

Predicted of_cells(const Problem& problem, std::span<const Places> steps, const Choice& choice,
                   bool each_cell, Threads threads) {
  return of_each_step(problem, steps, choice, threads, [&](const Places& places) {
    return tests_of_cells(problem, places, radius_of(problem), choice.cells, each_cell);
  });
}

bool moved_by(double distance, const Places& from, const Places& to) {
  for (std::size_t i = 0; i < from.front().size(); ++i) {
    double squared = 0;
    for (std::size_t c = 0; c < from.size(); ++c)
      squared += (to[c][i] - from[c][i]) * (to[c][i] - from[c][i]);
    if (squared > distance * distance) return true;
  }
  return false;
}

}  // namespace

std::uint64_t lanes_of(std::span<const std::uint32_t> tests_of_threads) {
  std::uint64_t lanes = 0;
  for (std::size_t warp = 0; warp < tests_of_threads.size(); warp += warp_lanes) {
    const auto threads =
        tests_of_threads.subspan(warp, std::min(warp_lanes, tests_of_threads.size() - warp));
    lanes += warp_lanes * std::uint64_t{std::ranges::max(threads)};
  }
  return lanes;
}

IdleThreads idle_of(std::span<const std::uint32_t> tests_of_threads, std::uint32_t idle) {
  IdleThreads sum;
  for (std::size_t warp = 0; warp < tests_of_threads.size(); warp += warp_lanes) {
    const auto threads =
        tests_of_threads.subspan(warp, std::min(warp_lanes, tests_of_threads.size() - warp));
    const auto here = static_cast<std::uint64_t>(std::ranges::count(threads, idle));
    sum += {.all = here, .active = here < threads.size() ? here : 0};
  }
  return sum;
}

Predicted predict_all_pairs(const Problem& problem, std::span<const Places> /*steps*/,
                            const Choice& /*choice*/) {
  const double agents = problem.agents;
  constexpr double lanes = warp_lanes;
  return {.tests = agents * agents,
          .rebuilds = 0,
          .used = agents / (std::ceil(agents / lanes) * lanes)};
}

Predicted predict_cells(const Problem& problem, std::span<const Places> steps,
                        const Choice& choice) {
  return of_cells(problem, steps, choice, /*each_cell=*/true, Threads::by_number);
}

Predicted predict_packed_cells(const Problem& problem, std::span<const Places> steps,
                               const Choice& choice) {
  return of_cells(problem, steps, choice, /*each_cell=*/true, Threads::by_row);
}

Predicted predict_curve_cells(const Problem& problem, std::span<const Places> steps,
                              const Choice& choice) {
  return of_cells(problem, steps, choice, /*each_cell=*/true,
                  choice.curve == Curve::z ? Threads::along_z_curve : Threads::along_hilbert_curve);
}

Predicted predict_rows(const Problem& problem, std::span<const Places> steps,
                       const Choice& choice) {
  return of_cells(problem, steps, choice, /*each_cell=*/false, Threads::by_row);
}

Predicted predict_half_stencil(const Problem& problem, std::span<const Places> steps,
                               const Choice& choice) {
  const double reach = radius_of(problem);
  return of_each_step(problem, steps, choice, Threads::by_row, [&](const Places& places) {
    const auto order = in_order_of_cells(problem, places, reach, choice.cells, Threads::by_row);
    std::vector<std::uint32_t> behind(order.size());
    for (std::uint32_t at = 0; at < order.size(); ++at)
      behind[order[at]] = at;
    return tests_of_cells(problem, places, reach, choice.cells, /*each_cell=*/false, behind);
  });
}

Predicted predict_columns(const Problem& problem, std::span<const Places> steps,
                          const Choice& choice) {
  return of_each_step(problem, steps, choice, Threads::by_number, [&](const Places& places) {
    return tests_of_columns(problem, places, radius_of(problem), choice.cells);
  });
}

Predicted predict_lists(const Problem& problem, std::span<const Places> steps,
                        const Choice& choice) {
  const double reach = radius_of(problem) + choice.skin;
  const Places* built = nullptr;
  std::vector<std::uint32_t> order;
  TestsOfAgents listed;
  std::size_t rebuilds = 0;
  std::uint64_t made = 0;
  std::uint64_t lanes = 0;
  for (const Places& places : steps) {
    TestsOfAgents tests(places.front().size());
    if (built == nullptr || moved_by(choice.skin / 2, *built, places)) {
      built = &places;
      ++rebuilds;
      order = in_order_of_cells(problem, places, reach, choice.cells, Threads::by_row);
      const Lists lists = search(places, reach * reach, /*nearest=*/false).lists;
      listed = of_all(places, [&](std::size_t i) { return lists.of(i).size(); });
      tests = tests_of_cells(problem, places, reach, choice.cells, /*each_cell=*/false);
    }
    std::ranges::transform(tests, listed, tests.begin(), std::plus{});
    made += sum_of(tests);
    lanes += lanes_of(in_order(order, tests));
  }
  return of_sums(steps.size(), rebuilds, made, lanes);
}

}  // namespace strata::neighbours
