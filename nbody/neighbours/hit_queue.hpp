// A search that queues its hits. Also compiled for the CPU, where tests run it.
#pragma once

#include "nbody/neighbours/row_search.hpp"

#include <cstddef>
#include <cstdint>

namespace strata::neighbours {

/// Whether any active thread of the warp passes true; on a CPU, this one.
[[nodiscard]] STRATA_BOTH inline bool any_lane(bool so) {
#if defined(__CUDA_ARCH__)
  return __any_sync(__activemask(), so ? 1 : 0) != 0;
#else
  return so;
#endif
}

/// Rows of cells whose hits are queued: once a thread's queue is full, all active threads of the
/// warp process theirs. So threads find hits at different times and process them together, in the
/// order in which they were found. Up to a batch is read beyond the last agent.
struct SearchWithQueue : SearchRows {
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
        const OrderedAgent* const others = ordered + at;
        for (std::uint32_t k = 0; k < batch; ++k) {
          const OrderedAgent other = others[k];
          const Vector<float> offset = other.place - me;
          if (dot(offset, offset) < found.limit() && at + k < to) {
            *next = at + k;
            next += stride;
            ++count;
          }
        }
        if (!any_lane(count > room - batch)) continue;
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
      const OrderedAgent other = ordered[*hit];
      test(me, other.place, other.id, found);
    }
  }
};

}  // namespace strata::neighbours
