// Rows of cells that a warp reads once for all of its threads, into shared memory. Also compiled
// for the CPU, where tests run it: there a warp is one thread.
#pragma once

#include "nbody/neighbours/row_search.hpp"

#include <cstddef>
#include <cstdint>

namespace strata::neighbours {

#if defined(__CUDA_ARCH__)
inline constexpr unsigned threads_of_warp = 32;
#else
inline constexpr unsigned threads_of_warp = 1;
#endif

/// The minimum over the warp, for all threads; all call it.
[[nodiscard]] STRATA_BOTH inline std::uint32_t least_of_warp(std::uint32_t mine) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  mine = __reduce_min_sync(0xFFFFFFFFU, mine);
#elif defined(__CUDA_ARCH__)
  for (unsigned offset = threads_of_warp / 2; offset > 0; offset /= 2)
    mine = min(mine, __shfl_xor_sync(0xFFFFFFFFU, mine, offset));
#endif
  return mine;
}
/// Makes earlier writes of each thread of the warp visible to all others.
STRATA_BOTH inline void wait_for_warp() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}

/// Rows of cells, each of which the warp reads as far as any of its threads reaches; a thread tests
/// those that it reaches itself, in groups. All threads of a warp are in the same row, and advance
/// to the next one that any of them reaches.
struct SearchTiles {
  static constexpr std::uint32_t tile_size = 128;
  /// The last group begins with the last agent; its padding is out of reach.
  static constexpr std::uint32_t room = tile_size + group_size;

  SearchRows runs;
  OrderedAgent* tile;  ///< of this warp: `room` of them
  unsigned lane;       ///< of this thread

  /// `real`: whether the thread has an agent. All threads of a warp call it.
  template <class Found>
  STRATA_BOTH std::uint32_t test_agents(bool real, const Vector<float>& me, Found& found) const {
    std::uint32_t tests = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    Rows rows{runs.cells, me};
    const auto next_row = [&]() -> std::uint32_t {
      return real && rows.next(first, last) ? rows.begin_of(first) : no_agent;
    };
    for (std::uint32_t mine = next_row();;) {
      const std::uint32_t row = least_of_warp(mine);
      if (row == no_agent) return tests;
      const bool here = mine == row;
      const std::uint32_t from = here ? runs.starts[first] : no_agent;
      const std::uint32_t to = here ? runs.starts[last + 1] : 0;
      const std::uint32_t end = ~least_of_warp(~to);
      for (std::uint32_t at = least_of_warp(from); at < end; at += tile_size) {
        const std::uint32_t count = end - at < tile_size ? end - at : tile_size;
        fill(at, count);
        wait_for_warp();
        const std::uint32_t stop = to < at + count ? to : at + count;
        for (std::uint32_t other = from > at ? from : at; other < stop; other += group_size)
          test_group(me, tile + (other - at), found);
        wait_for_warp();
      }
      if (!here) continue;
      tests += to - from;
      mine = next_row();
    }
  }

 private:
  STRATA_BOTH void fill(std::uint32_t at, std::uint32_t count) const {
    for (std::uint32_t k = lane; k < count + group_size; k += threads_of_warp) {
      OrderedAgent other{{INFINITY, 0, 0}, no_agent};
      if (k < count) other = runs.ordered[at + k];
      tile[k] = other;
    }
  }
};

/// The step of the agent at the thread's position. All threads of a warp call it.
template <Kind kind>
STRATA_BOTH inline void take_step_tiled(const KernelStep& step, std::uint32_t thread,
                                        const SearchTiles& search) {
  const bool real = thread < step.agents;
  const OrderedAgent mine = search.runs.ordered[real ? thread : 0];
  Gathering<kind> found{step, mine.id};
  const std::uint32_t tests = search.test_agents(real, mine.place, found);
  if (!real) return;
  found.end(step);
  if (step.tests != nullptr) step.tests[thread] = tests;
}

}  // namespace strata::neighbours
