// Searches of a GPU thread in the cells within reach of its agent. Also compiled for the CPU, where
// tests run them.
#pragma once

#include "nbody/neighbours/row_search.hpp"

#include <cstdint>

namespace strata::neighbours {

/// The agents of every cell within reach, by the ids in the cell. `Starts` has, under [], the begin
/// of each cell in `ids`; one more at the end.
template <class Starts>
struct SearchNamedCells {
  Cells cells;
  Starts starts{};
  const std::uint32_t* ids = nullptr;

  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& step, const Vector<float>& me,
                                       Found& found) const {
    std::uint32_t tests = 0;
    visit_cells(cells, me, [&](std::uint32_t cell) {
      const std::uint32_t from = starts[cell];
      const std::uint32_t to = starts[cell + 1];
      for (std::uint32_t at = from; at < to; ++at)
        test(me, step.place(ids[at]), ids[at], found);
      tests += to - from;
    });
    return tests;
  }
};
using SearchCellIds = SearchNamedCells<const std::uint32_t*>;

/// The `count` agents in a list of positions, that of the agent at position `at`: four are read
/// before the first is tested, since each read depends on that of its position. The agent itself,
/// which is no neighbour, pads the last group.
template <class Found>
STRATA_BOTH inline void test_list(const OrderedAgent* ordered, const std::uint32_t* lists,
                                  std::uint32_t agents, std::uint32_t at, std::uint32_t count,
                                  const Vector<float>& me, Found& found) {
  constexpr std::uint32_t batch = 4;
  for (std::uint32_t first = 0; first < count; first += batch) {
    OrderedAgent others[batch];  // in registers
    for (std::uint32_t n = 0; n < batch; ++n) {
      const std::size_t row = first + n;
      others[n] = ordered[row < count ? lists[row * agents + at] : at];
    }
    for (const OrderedAgent& other : others)
      test(me, other.place, other.id, found);
  }
}

/// The agents of every cell within reach, in cell order.
struct SearchCells {
  Cells cells;
  const std::uint32_t* starts = nullptr;
  const OrderedAgent* ordered = nullptr;

  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& /*step*/, const Vector<float>& me,
                                       Found& found) const {
    std::uint32_t tests = 0;
    visit_cells(cells, me, [&](std::uint32_t cell) {
      tests += test_range(ordered, starts[cell], starts[cell + 1], me, found);
    });
    return tests;
  }
};

/// The same, with a table of the positions of cells.
struct SearchCellsAlongCurve {
  Cells cells;
  const std::uint32_t* starts = nullptr;
  const OrderedAgent* ordered = nullptr;
  const std::uint32_t* places = nullptr;

  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& /*step*/, const Vector<float>& me,
                                       Found& found) const {
    std::uint32_t tests = 0;
    visit_cells(cells, me, [&](std::uint32_t cell) {
      const std::uint32_t at = places[cell];
      tests += test_range(ordered, starts[at], starts[at + 1], me, found);
    });
    return tests;
  }
};

/// Agents in an order of the search's own.
struct AgentsInOrder {
  float* places = nullptr;
  float* forwards = nullptr;
  float* speeds = nullptr;

  void replace(KernelStep& step) const {
    step.places = places;
    step.forwards = forwards;
    step.speeds = speeds;
  }
};
/// Rows of cells of agents whose numbers are their positions in cell order.
struct SearchOwnOrder : SearchRows {
  AgentsInOrder in_order;
};

/// Sorts agent ids by cell, in the order of ids. Host only.
template <class Starts, class Ids>
inline void build_cells(const Cells& cells, const KernelStep& step, Starts&& starts, Ids&& ids) {
  for (auto& start : starts)
    start = 0;
  for (std::uint32_t i = 0; i < step.agents; ++i)
    ++starts[cells.of(step.place(i))];
  std::uint32_t before = 0;
  for (auto& start : starts) {
    before += start;
    start = before;
  }
  // Each entry is now the end of its cell; filling backwards turns it into the begin.
  for (std::uint32_t i = step.agents; i-- > 0;)
    ids[--starts[cells.of(step.place(i))]] = i;
}

}  // namespace strata::neighbours
