// The search of a GPU thread in the rows of cells within reach of its agent. Also compiled for the
// CPU, where tests run it.
#pragma once

#include "nbody/neighbours/model/cells.hpp"
#include "nbody/neighbours/search_step.hpp"

#include <cstdint>

namespace strata::neighbours {

/// The agents in a range of positions.
template <class Found>
STRATA_BOTH inline std::uint32_t test_range(const OrderedAgent* ordered, std::uint32_t from,
                                            std::uint32_t to, const Vector<float>& me,
                                            Found& found) {
  for (std::uint32_t at = from; at < to; ++at) {
    const OrderedAgent other = ordered[at];
    test(me, other.place, other.id, found);
  }
  return to - from;
}

/// The agents of every row of cells within reach, in cell order: adjacent cells along x are one
/// run.
struct SearchRows {
  Cells cells;
  const std::uint32_t* starts = nullptr;
  const OrderedAgent* ordered = nullptr;

  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& /*step*/, const Vector<float>& me,
                                       Found& found) const {
    std::uint32_t tests = 0;
    visit_rows(cells, me, [&](std::uint32_t first, std::uint32_t last) {
      tests += test_range(ordered, starts[first], starts[last + 1], me, found);
    });
    return tests;
  }
};

/// Threads in the order of cells.
template <Kind kind, class Search>
STRATA_BOTH inline void take_step_in_order(const KernelStep& step, std::uint32_t thread,
                                           const Search& search) {
  if (thread >= step.agents) return;
  const OrderedAgent mine = search.ordered[thread];
  take_step<kind>(step, thread, mine.id, mine.place, search);
}

}  // namespace strata::neighbours
