// Lists that outlast a step: everybody within the reach and a skin, of whom nobody is missed until
// an agent has moved by half the skin. What a thread of a GPU does with them; on a CPU too, where
// tests run it.
#pragma once

#include "nbody/neighbours/searches.hpp"

#include <cstdint>

namespace strata::neighbours {

/// Squared distance from which on an agent has moved by half the skin: a little less, so that no
/// rounding keeps a list too long.
[[nodiscard]] inline float lasting(double skin) {
  return static_cast<float>(skin / 2 * skin / 2 * 0.9999);
}

struct LastingLists {
  Cells cells;            ///< for the reach and the skin
  float reach_squared;    ///< with the skin
  float moved_squared;    ///< from which on an agent has moved too far
  std::uint32_t* is_old;  ///< whether lists are made in this step: one word
  const std::uint32_t* starts;
  Standing* standing;     ///< in the order of cells as they were when lists were made
  float* made_at;         ///< where agents were then, as KernelStep::places
  std::uint32_t* counts;  ///< of the agent that stands there
  std::uint32_t* lists;   ///< where its neighbours stand: the first of all, the next of all, …
  std::uint32_t* tests;   ///< that its list took
  std::uint32_t room;     ///< of a list; a count beyond says what room it needs

  /// Says that lists are old, if agent `i` is not where it was. Where it was is not asked if
  /// somebody else has said so: before the first lists it is unknown.
  STRATA_BOTH void follow(const KernelStep& step, std::uint32_t i) const {
    if (i >= step.agents || *is_old != 0) return;
    const Vector<float> off = step.place(i) - step.triple(made_at, i);
    if (dot(off, off) > moved_squared) *is_old = 1;
  }

  /// Makes the list of the agent that stands at `at`; or, if lists are not old, notes where it is.
  STRATA_BOTH void renew(const KernelStep& step, std::uint32_t at) const {
    if (at >= step.agents) return;
    const Standing mine = standing[at];
    if (*is_old == 0) {
      standing[at].place = step.place(mine.id);
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
        const Standing candidate = standing[other];  // read as one, since its number is asked too
        const Vector<float> offset = candidate.place - mine.place;
        const float squared = dot(offset, offset);
        if (squared < reach_squared && candidate.id != mine.id) found.take(other, squared, offset);
      }
      made += to - from;
    });
    found.end(longer);
    tests[at] = made;
  }

  /// Those of the list of the agent that stands at `at`. The tests that made the list count in its
  /// step.
  template <class Found>
  STRATA_BOTH std::uint32_t ask(const KernelStep& step, std::uint32_t at, const Vector<float>& me,
                                Found& found) const {
    const std::uint32_t count = counts[at] < room ? counts[at] : room;
    ask_list(standing, lists, step.agents, at, count, me, found);
    if (step.tests == nullptr) return 0;
    return count + (*is_old != 0 ? tests[at] : 0);
  }
};

/// The step of the agent that stands where the thread does.
template <Kind kind>
STRATA_BOTH inline void take_step_listed(const KernelStep& step, std::uint32_t thread,
                                         const LastingLists& lists) {
  if (thread >= step.agents) return;
  const Standing mine = lists.standing[thread];
  take_step<kind>(step, thread, mine.id, mine.place,
                  [&](const KernelStep& now, const Vector<float>& me, auto& found) {
                    return lists.ask(now, thread, me, found);
                  });
}

}  // namespace strata::neighbours
