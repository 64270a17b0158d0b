// Distance tests and the step of a GPU thread. Also compiled for the CPU, where tests run them.
#pragma once

#include "nbody/neighbours/gathering.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace strata::neighbours {

/// An agent at its position in cell order; read as one.
struct alignas(16) OrderedAgent {
  Vector<float> place;
  std::uint32_t id;
};

// A search visits the candidates of agent `i` at `me`, and returns the number of tests.

/// All pairs.
struct SearchAll {
  template <class Found>
  STRATA_BOTH std::uint32_t operator()(const KernelStep& step, const Vector<float>& me,
                                       Found& found) const {
    for (std::uint32_t j = 0; j < step.agents; ++j)
      test(me, step.place(j), j, found);
    return step.agents;
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
STRATA_BOTH inline void test_group(const Vector<float>& me, const OrderedAgent* group,
                                   Found& found) {
  float squared[group_size];  // in registers
  float least = 0;
  for (unsigned k = 0; k < group_size; ++k) {
    const OrderedAgent other = group[k];
    const Vector<float> offset = other.place - me;
    squared[k] = dot(offset, offset);
    least = k == 0 ? squared[k] : std::fmin(least, squared[k]);
  }
  if (!(least < found.limit())) return;
  std::uint32_t near = 0;
  for (unsigned k = 0; k < group_size; ++k)
    near |= (squared[k] < found.limit() ? 1U : 0U) << k;
  for (; near != 0; near &= near - 1) {
    const OrderedAgent other = group[lowest_bit(near)];
    test(me, other.place, other.id, found);
  }
}

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
}  // namespace strata::neighbours
