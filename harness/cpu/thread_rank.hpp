// How the threads of a team share out work. Host only.
#pragma once

#include "harness/cpu/thread_team.hpp"

#include <atomic>
#include <cstddef>
#include <utility>

namespace strata {

/// One thread among those that work together.
struct ThreadRank {
  std::size_t rank = 0;
  std::size_t size = 1;
  ThreadTeam* team = nullptr;  ///< null: it is alone

  void wait_for_all() const noexcept {
    if (team != nullptr) team->meet();
  }
  /// The part of `count` that is this thread's: from, to.
  [[nodiscard]] std::pair<std::size_t, std::size_t> share(std::size_t count) const {
    return {count * rank / size, count * (rank + 1) / size};
  }
};

/// Work that threads take piece by piece, because not all of it costs the same.
template <std::size_t piece>
class WorkQueue {
 public:
  /// By one thread, while no other takes any.
  void begin() { next_ = 0; }
  /// Calls visit(from, to) for pieces of `count`, until there are none.
  template <class Visit>
  void take(std::size_t count, const Visit& visit) {
    for (;;) {
      const std::size_t from = next_.fetch_add(piece, std::memory_order_relaxed);
      if (from >= count) return;
      visit(from, from + piece < count ? from + piece : count);
    }
  }

 private:
  alignas(128) std::atomic<std::size_t> next_ = 0;
};

}  // namespace strata
