// How a GPU thread visits the rows of cells within reach of its agent. Also compiled for the CPU,
// where tests run it.
#pragma once

#include "nbody/neighbours/model/cells.hpp"
#include "nbody/neighbours/search_step.hpp"

#include <cstdint>

namespace strata::neighbours {

/// The agents in a range of positions.
template <class Found>
STRATA_BOTH inline std::uint32_t ask_run(const Standing* standing, std::uint32_t from,
                                         std::uint32_t to, const Vector<float>& me, Found& found) {
  for (std::uint32_t at = from; at < to; ++at) {
    const Standing other = standing[at];
    test(me, other.place, other.id, found);
  }
  return to - from;
}

/// The agents of every row of cells within reach, in cell order: adjacent cells along x are one
/// run.
struct AskRuns {
  Cells cells;
  const std::uint32_t* starts = nullptr;
  const Standing* standing = nullptr;

  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& /*step*/, const Vector<float>& me,
                                       Found& found) const {
    std::uint32_t tests = 0;
    visit_rows(cells, me, [&](std::uint32_t first, std::uint32_t last) {
      tests += ask_run(standing, starts[first], starts[last + 1], me, found);
    });
    return tests;
  }
};

/// Threads in the order of cells.
template <Kind kind, class Search>
STRATA_BOTH inline void take_step_standing(const KernelStep& step, std::uint32_t thread,
                                           const Search& search) {
  if (thread >= step.agents) return;
  const Standing mine = search.standing[thread];
  take_step<kind>(step, thread, mine.id, mine.place, search);
}

}  // namespace strata::neighbours
