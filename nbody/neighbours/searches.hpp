// How a thread of a rung on a GPU goes through the agents that may be its neighbours. On a CPU too,
// where tests run it.
#pragma once

#include "nbody/neighbours/gathering.hpp"
#include "nbody/neighbours/model/cells.hpp"

#include <cstdint>

namespace strata::neighbours {

/// An agent where it stands in the order of cells; read as one.
struct alignas(16) Standing {
  Vector<float> place;
  std::uint32_t id;
};

// A search goes through the candidates of agent `i`, who is at `me`, and returns how many it
// tested.

/// Everybody.
struct AskAll {
  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& step, const Vector<float>& me,
                                       Found& found) const {
    for (std::uint32_t j = 0; j < step.agents; ++j)
      test(me, step.place(j), j, found);
    return step.agents;
  }
};

/// The agents of every cell within reach, whom the cell names.
struct AskCells {
  Cells cells;
  const std::uint32_t* starts = nullptr;  ///< where each cell begins in `ids`; one more at the end
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

/// The agents who stand from one place to another.
template <class Found>
STRATA_BOTH inline std::uint32_t ask_run(const Standing* standing, std::uint32_t from,
                                         std::uint32_t to, const Vector<float>& me, Found& found) {
  for (std::uint32_t at = from; at < to; ++at) {
    const Standing other = standing[at];
    test(me, other.place, other.id, found);
  }
  return to - from;
}

/// The agents of every cell within reach, who stand in the order of cells.
struct AskStanding {
  Cells cells;
  const std::uint32_t* starts = nullptr;
  const Standing* standing = nullptr;

  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& /*step*/, const Vector<float>& me,
                                       Found& found) const {
    std::uint32_t tests = 0;
    visit_cells(cells, me, [&](std::uint32_t cell) {
      tests += ask_run(standing, starts[cell], starts[cell + 1], me, found);
    });
    return tests;
  }
};

/// The same, of rows of cells: cells that follow each other along x are one run.
struct AskRuns {
  Cells cells;
  const std::uint32_t* starts = nullptr;
  const Standing* standing = nullptr;

  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& /*step*/, const Vector<float>& me,
                                       Found& found) const {
    std::uint32_t tests = 0;
    Rows rows{cells, me};
    for (std::uint32_t first = 0, last = 0; rows.next(first, last);)
      tests += ask_run(standing, starts[first], starts[last + 1], me, found);
    return tests;
  }
};

/// The step of agent `i`, who is at `me`, by the thread of that number.
template <Kind kind, class Search>
STRATA_BOTH inline void take_step(const KernelStep& step, std::uint32_t thread, std::uint32_t i,
                                  const Vector<float>& me, const Search& search) {
  Gathering<kind> found{step, i};
  const std::uint32_t tests = search(step, me, found);
  found.end(step);
  if (step.tests != nullptr) step.tests[thread] = tests;
}
/// Threads in the order of agents.
template <Kind kind, class Search>
STRATA_BOTH inline void take_own_step(const KernelStep& step, std::uint32_t thread,
                                      const Search& search) {
  if (thread < step.agents) take_step<kind>(step, thread, thread, step.place(thread), search);
}
/// Threads in the order of cells.
template <Kind kind, class Search>
STRATA_BOTH inline void take_step_standing(const KernelStep& step, std::uint32_t thread,
                                           const Search& search) {
  if (thread >= step.agents) return;
  const Standing mine = search.standing[thread];
  take_step<kind>(step, thread, mine.id, mine.place, search);
}

/// Puts agents, in the order of their numbers, into the order of their cells. Host only.
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
  // Each cell now tells where it ends: filled from there down, it tells where it begins.
  for (std::uint32_t i = step.agents; i-- > 0;)
    ids[--starts[cells.of(step.place(i))]] = i;
}

}  // namespace strata::neighbours
