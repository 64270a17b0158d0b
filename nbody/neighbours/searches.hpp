// How a GPU thread visits the candidates for neighbours of its agent. Also compiled for the CPU,
// where tests run it.
#pragma once

#include "nbody/neighbours/gathering.hpp"
#include "nbody/neighbours/model/cells.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace strata::neighbours {

/// An agent at its position in cell order; read as one.
struct alignas(16) Standing {
  Vector<float> place;
  std::uint32_t id;
};

// A search visits the candidates of agent `i` at `me`, and returns the number of tests.

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

/// The agents of every cell within reach, by the ids in the cell. `Starts` has, under [], the begin
/// of each cell in `ids`; one more at the end.
template <class Starts>
struct AskNamed {
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

/// The lowest set bit of a number that is not 0. std::countr_zero compiles for a GPU as well, but
/// returns 32 there for any number.
[[nodiscard]] STRATA_BOTH inline unsigned lowest_bit(std::uint32_t number) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__ffs(static_cast<int>(number))) - 1;
#else
  return static_cast<unsigned>(std::countr_zero(number));
#endif
}

/// Candidates that are tested at once for a hit.
inline constexpr unsigned group_size = 8;

/// Tests a group, with the same result as test() one after the other. If all agents are candidates,
/// hits are rare: the minimum of the distances is compared with the limit, and only then each of
/// them. A comparison and a branch for every candidate would cost as much as its distance.
template <class Found>
STRATA_BOTH inline void test_group(const Vector<float>& me, const Standing* group, Found& found) {
  float squared[group_size];  // in registers
  float least = 0;
  for (unsigned k = 0; k < group_size; ++k) {
    const Standing other = group[k];
    const Vector<float> offset = other.place - me;
    squared[k] = dot(offset, offset);
    least = k == 0 ? squared[k] : std::fmin(least, squared[k]);
  }
  if (!(least < found.limit())) return;
  std::uint32_t near = 0;
  for (unsigned k = 0; k < group_size; ++k)
    near |= (squared[k] < found.limit() ? 1U : 0U) << k;
  for (; near != 0; near &= near - 1) {
    const Standing other = group[lowest_bit(near)];
    test(me, other.place, other.id, found);
  }
}

using AskCells = AskNamed<const std::uint32_t*>;

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

/// The `count` agents in a list of positions, that of the agent at position `at`: four are read
/// before the first is tested, since each read depends on that of its position. The agent itself,
/// which is no neighbour, pads the last group.
template <class Found>
STRATA_BOTH inline void ask_list(const Standing* standing, const std::uint32_t* lists,
                                 std::uint32_t agents, std::uint32_t at, std::uint32_t count,
                                 const Vector<float>& me, Found& found) {
  constexpr std::uint32_t batch = 4;
  for (std::uint32_t first = 0; first < count; first += batch) {
    Standing others[batch];  // in registers
    for (std::uint32_t n = 0; n < batch; ++n) {
      const std::size_t row = first + n;
      others[n] = standing[row < count ? lists[row * agents + at] : at];
    }
    for (const Standing& other : others)
      test(me, other.place, other.id, found);
  }
}

/// The agents of every cell within reach, in cell order.
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

/// The same, with a table of the positions of cells.
struct AskAlongCurve {
  Cells cells;
  const std::uint32_t* starts = nullptr;
  const Standing* standing = nullptr;
  const std::uint32_t* places = nullptr;

  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& /*step*/, const Vector<float>& me,
                                       Found& found) const {
    std::uint32_t tests = 0;
    visit_cells(cells, me, [&](std::uint32_t cell) {
      const std::uint32_t at = places[cell];
      tests += ask_run(standing, starts[at], starts[at + 1], me, found);
    });
    return tests;
  }
};

/// The same, for rows of cells: adjacent cells along x are one run.
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
struct AskOwnOrder : AskRuns {
  AgentsInOrder in_order;
};

/// Whether any active thread of the warp passes true; on a CPU, this one.
[[nodiscard]] STRATA_BOTH inline bool any_says(bool so) {
#if defined(__CUDA_ARCH__)
  return __any_sync(__activemask(), so ? 1 : 0) != 0;
#else
  return so;
#endif
}

/// Rows of cells whose hits are queued: once a thread's queue is full, all active threads of the
/// warp process theirs. So threads find hits at different times and process them together, in the
/// order in which they were found. Up to a batch is read beyond the last agent.
struct AskPuttingOff : AskRuns {
  static constexpr std::uint32_t room = 32;  ///< hits per thread
  static constexpr std::uint32_t batch = 4;  ///< tested between two checks for room

  std::uint32_t* hits;  ///< of this thread: positions of the agents
  std::size_t stride;   ///< distance between them

  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& /*step*/, const Vector<float>& me,
                                       Found& found) const {
    std::uint32_t tests = 0;
    std::uint32_t* next = hits;
    std::uint32_t count = 0;
    visit_rows(cells, me, [&](std::uint32_t first, std::uint32_t last) {
      const std::uint32_t from = starts[first];
      const std::uint32_t to = starts[last + 1];
      tests += to - from;
      for (std::uint32_t at = from; at < to; at += batch) {
        const Standing* const others = standing + at;
        for (std::uint32_t k = 0; k < batch; ++k) {
          const Standing other = others[k];
          const Vector<float> offset = other.place - me;
          if (dot(offset, offset) < found.limit() && at + k < to) {
            *next = at + k;
            next += stride;
            ++count;
          }
        }
        if (!any_says(count > room - batch)) continue;
        work_off(count, me, found);
        next = hits;
        count = 0;
      }
    });
    work_off(count, me, found);
    return tests;
  }

 private:
  template <class Found>
  STRATA_BOTH void work_off(std::uint32_t count, const Vector<float>& me, Found& found) const {
    const std::uint32_t* hit = hits;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (; count > 0; --count, hit += stride) {
      const Standing other = standing[*hit];
      test(me, other.place, other.id, found);
    }
  }
};

/// The step of agent `i` at `me`, by the thread of that number.
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
