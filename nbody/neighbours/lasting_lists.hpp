// Lists that are kept for several steps: all agents within the reach plus a skin, which stay
// complete until an agent has moved by half the skin. The work of a GPU thread; also compiled for
// the CPU, where tests run it.
#pragma once

#include "nbody/neighbours/cell_search.hpp"

#include <cstdint>

namespace strata::neighbours {

/// Squared distance from which on an agent has moved by half the skin; slightly less, so that
/// rounding never keeps a list too long.
[[nodiscard]] inline float lasting(double skin) {
  return static_cast<float>(skin / 2 * skin / 2 * 0.9999);
}

struct LastingLists {
  Cells cells;            ///< for the reach and the skin
  float reach_squared;    ///< with the skin
  float moved_squared;    ///< from which on an agent has moved too far
  std::uint32_t* is_old;  ///< whether lists are rebuilt in this step: one word
  const std::uint32_t* starts;
  OrderedAgent* ordered;  ///< in the cell order of the last rebuild
  float* made_at;         ///< positions at the last rebuild, like KernelStep::places
  std::uint32_t* counts;  ///< of the agent at that position
  std::uint32_t* lists;  ///< positions of neighbours: the first of all agents, the second of all, …
  std::uint32_t* tests;  ///< that building its list took
  std::uint32_t room;    ///< of a list; a higher count is the required room

  /// Marks the lists as stale if agent `i` has moved too far. If another thread has marked them
  /// already, its old position is not read: before the first rebuild it is unknown.
  STRATA_BOTH void follow(const KernelStep& step, std::uint32_t i) const {
    if (i >= step.agents || *is_old != 0) return;
    const Vector<float> off = step.place(i) - step.triple(made_at, i);
    if (dot(off, off) > moved_squared) *is_old = 1;
  }

  /// Builds the list of the agent at position `at`; if lists are valid, updates its position.
  STRATA_BOTH void renew(const KernelStep& step, std::uint32_t at) const {
    if (at >= step.agents) return;
    const OrderedAgent mine = ordered[at];
    if (*is_old == 0) {
      ordered[at].place = step.place(mine.id);
      return;
    }
    step.put(made_at, mine.id, mine.place);
    KernelStep longer = step;
    longer.radius_squared = reach_squared;
    longer.counts = counts;
    longer.lists = lists;
    longer.room = room;
    Gathering<Kind::list> found{longer, at};
    std::uint32_t made = 0;
    visit_rows(cells, mine.place, [&](std::uint32_t first, std::uint32_t last) {
      const std::uint32_t from = starts[first];
      const std::uint32_t to = starts[last + 1];
      for (std::uint32_t other = from; other < to; ++other) {
        const OrderedAgent candidate = ordered[other];  // read together, since the id is needed too
        const Vector<float> offset = candidate.place - mine.place;
        const float squared = dot(offset, offset);
        if (squared < reach_squared && candidate.id != mine.id) found.take(other, squared, offset);
      }
      made += to - from;
    });
    found.end(longer);
    tests[at] = made;
  }

  /// The neighbours in the list of the agent at position `at`. The tests that built the list count
  /// in that step.
  template <class Found>
  STRATA_BOTH std::uint32_t test_agents(const KernelStep& step, std::uint32_t at,
                                        const Vector<float>& me, Found& found) const {
    const std::uint32_t count = counts[at] < room ? counts[at] : room;
    test_list(ordered, lists, step.agents, at, count, me, found);
    if (step.tests == nullptr) return 0;
    return count + (*is_old != 0 ? tests[at] : 0);
  }
};

/// The step of the agent at the thread's position.
template <Kind kind>
STRATA_BOTH inline void take_step_listed(const KernelStep& step, std::uint32_t thread,
                                         const LastingLists& lists) {
  if (thread >= step.agents) return;
  const OrderedAgent mine = lists.ordered[thread];
  take_step<kind>(step, thread, mine.id, mine.place,
                  [&](const KernelStep& now, const Vector<float>& me, auto& found) {
                    return lists.test_agents(now, thread, me, found);
                  });
}

}  // namespace strata::neighbours
