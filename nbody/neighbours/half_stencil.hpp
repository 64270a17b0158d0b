// Pairs that are tested once, by the agent that comes first in cell order, and stored for both.
// Also compiled for the CPU, where tests run it.
#pragma once

#include "nbody/neighbours/cell_search.hpp"

#include <cstddef>
#include <cstdint>

namespace strata::neighbours {

/// Atomically adds 1 and returns the previous value.
STRATA_BOTH inline std::uint32_t count_up(std::uint32_t& number) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(&number, 1U);
#else
  return number++;
#endif
}

struct HalfStencil {
  SearchRows runs;
  /// Of the agent at that position: the positions of its neighbours, the first of all agents, the
  /// second of all, …. Lists that are the result itself are KernelStep's.
  std::uint32_t* counts = nullptr;
  std::uint32_t* lists = nullptr;
  std::uint32_t room = 0;  ///< of a list; a higher count is the required room

  /// Tests the agent at position `at` against all after it, and stores neighbours on both sides.
  /// The rows before its own belong to others.
  template <Kind kind>
  STRATA_BOTH void find(const KernelStep& step, std::uint32_t at) const {
    if (at >= step.agents) return;
    const OrderedAgent mine = runs.ordered[at];
    std::uint32_t tests = 0;
    visit_rows(runs.cells, mine.place, [&](std::uint32_t first, std::uint32_t last) {
      const std::uint32_t begin = runs.starts[first];
      const std::uint32_t to = runs.starts[last + 1];
      const std::uint32_t from = begin > at ? begin : at + 1;
      for (std::uint32_t other = from; other < to; ++other) {
        const OrderedAgent candidate = runs.ordered[other];
        const Vector<float> offset = candidate.place - mine.place;
        if (!(dot(offset, offset) < step.radius_squared)) continue;
        if constexpr (kind == Kind::list) {
          note(step.counts, step.lists, step.room, step.agents, mine.id, candidate.id);
          note(step.counts, step.lists, step.room, step.agents, candidate.id, mine.id);
        } else {
          note(counts, lists, room, step.agents, at, other);
          note(counts, lists, room, step.agents, other, at);
        }
      }
      tests += to > from ? to - from : 0;
    });
    if (step.tests != nullptr) step.tests[at] = tests;
  }

  /// The neighbours stored for the agent at position `at`. Its tests are counted by find().
  template <class Found>
  STRATA_BOTH std::uint32_t test_agents(const KernelStep& step, std::uint32_t at,
                                        const Vector<float>& me, Found& found) const {
    const std::uint32_t count = counts[at] < room ? counts[at] : room;
    test_list(runs.ordered, lists, step.agents, at, count, me, found);
    return step.tests == nullptr ? 0 : step.tests[at];
  }

 private:
  STRATA_BOTH static void note(std::uint32_t* counts, std::uint32_t* lists, std::uint32_t room,
                               std::uint32_t agents, std::uint32_t of, std::uint32_t neighbour) {
    const std::uint32_t before = count_up(counts[of]);
    if (before < room) lists[std::size_t{before} * agents + of] = neighbour;
  }
};

/// The step of the agent at the thread's position, from its stored neighbours.
template <Kind kind>
STRATA_BOTH inline void take_step_noted(const KernelStep& step, std::uint32_t thread,
                                        const HalfStencil& pairs) {
  if (thread >= step.agents) return;
  const OrderedAgent mine = pairs.runs.ordered[thread];
  take_step<kind>(step, thread, mine.id, mine.place,
                  [&](const KernelStep& now, const Vector<float>& me, auto& found) {
                    return pairs.test_agents(now, thread, me, found);
                  });
}

}  // namespace strata::neighbours
