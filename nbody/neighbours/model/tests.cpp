#include "nbody/neighbours/model/tests.hpp"

#include "harness/case/in_parallel.hpp"
#include "nbody/neighbours/model/cells.hpp"

#include <algorithm>
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
  Grid(const Problem& problem, double radius, std::uint32_t asked)
      : cells_{cells_of(problem.low(), problem.extent(), radius, asked)},
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
  /// How far off that is.
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

/// `each_cell`: cells are passed over one by one; else rows of them.
TestsOfAgents tests_of_cells(const Problem& problem, const Places& places, double radius,
                             std::uint32_t asked, bool each_cell) {
  const Grid grid{problem, radius, asked};
  const std::vector<std::uint64_t> before = cumulative(grid, places);
  return of_all(places, [&](std::size_t i) {
    const auto [x0, x1] = grid.around(places[0][i]);
    const auto [y0, y1] = grid.around(places[1][i]);
    const auto [z0, z1] = grid.around(places[2][i]);
    std::uint64_t tests = 0;
    for (std::int64_t z = z0; z <= z1; ++z) {
      for (std::int64_t y = y0; y <= y1; ++y) {
        const double off = grid.off(places[2][i], z) + grid.off(places[1][i], y);
        const std::int64_t row = (z * grid.count() + y) * grid.count();
        const auto agents = [&](std::int64_t from, std::int64_t to) {
          return before[static_cast<std::size_t>(row + to + 1)] -
                 before[static_cast<std::size_t>(row + from)];
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
                               std::uint32_t asked) {
  const Grid grid{problem, radius, asked};
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

/// Agents in the order of their cells; those of a cell, in that of their numbers.
std::vector<std::uint32_t> in_order_of_cells(const Problem& problem, const Places& places,
                                             const Choice& choice) {
  const Grid grid{problem, radius_of(problem), choice.cells};
  std::vector<std::uint32_t> order(places.front().size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
    return (grid.of(places[2][i]) * grid.count() + grid.of(places[1][i])) * grid.count() +
           grid.of(places[0][i]);
  });
  return order;
}

/// The mean of a structure that each step builds anew. `packed`: whose threads stand in the order
/// of cells.
Predicted of_each_step(const Problem& problem, std::span<const Places> steps, const Choice& choice,
                       bool packed, const std::function<TestsOfAgents(const Places&)>& tests_of) {
  std::uint64_t made = 0;
  std::uint64_t lanes = 0;
  for (const Places& places : steps) {
    TestsOfAgents tests = tests_of(places);
    made += sum_of(tests);
    if (packed) {
      TestsOfAgents ordered;
      for (const std::uint32_t i : in_order_of_cells(problem, places, choice))
        ordered.push_back(tests[i]);
      tests = std::move(ordered);
    }
    lanes += lanes_of(tests);
  }
  return {
      .tests = static_cast<double>(made) / static_cast<double>(steps.size()),
      .rebuilds = static_cast<std::uint32_t>(steps.size()),
      .used = static_cast<double>(made) / static_cast<double>(std::max<std::uint64_t>(lanes, 1))};
}

Predicted of_cells(const Problem& problem, std::span<const Places> steps, const Choice& choice,
                   bool each_cell, bool packed) {
  return of_each_step(problem, steps, choice, packed, [&](const Places& places) {
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
  return of_cells(problem, steps, choice, /*each_cell=*/true, /*packed=*/false);
}

Predicted predict_packed_cells(const Problem& problem, std::span<const Places> steps,
                               const Choice& choice) {
  return of_cells(problem, steps, choice, /*each_cell=*/true, /*packed=*/true);
}

Predicted predict_rows(const Problem& problem, std::span<const Places> steps,
                       const Choice& choice) {
  return of_cells(problem, steps, choice, /*each_cell=*/false, /*packed=*/true);
}

Predicted predict_columns(const Problem& problem, std::span<const Places> steps,
                          const Choice& choice) {
  return of_each_step(problem, steps, choice, /*packed=*/false, [&](const Places& places) {
    return tests_of_columns(problem, places, radius_of(problem), choice.cells);
  });
}

Predicted predict_lists(const Problem& problem, std::span<const Places> steps,
                        const Choice& choice) {
  const double reach = radius_of(problem) + choice.skin;
  Predicted predicted;
  const Places* built = nullptr;
  double listed = 0;
  double sum = 0;
  for (const Places& places : steps) {
    if (built == nullptr || moved_by(choice.skin / 2, *built, places)) {
      built = &places;
      ++predicted.rebuilds;
      sum += static_cast<double>(
          sum_of(tests_of_cells(problem, places, reach, choice.cells, /*each_cell=*/false)));
      listed =
          static_cast<double>(search(places, reach * reach, /*nearest=*/false).lists.ids.size());
    }
    sum += listed;
  }
  predicted.tests = sum / static_cast<double>(steps.size());
  return predicted;
}

}  // namespace strata::neighbours
