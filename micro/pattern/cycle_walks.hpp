// Where walks along a cycle begin and end, launch after launch, when several start at once and when
// only a piece of the cycle was written.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace strata {

/// `walkers` walks at a time over the first `links` links of a cycle of `slots` slots, each walker
/// over a piece of its own. A walk begins where the last one of its walker ended, as far as the
/// links go, so that samples visit different slots.
class CycleWalks {
 public:
  CycleWalks(std::uint64_t slots, std::uint64_t links, std::uint64_t walkers)
      : slots_{slots}, links_{links < slots ? links : slots}, walkers_{walkers} {}

  /// Steps from where one walker begins to where the next one does.
  [[nodiscard]] std::uint64_t gap() const { return links_ / walkers_; }
  [[nodiscard]] std::uint64_t slots() const { return slots_; }
  [[nodiscard]] std::uint64_t links() const { return links_; }
  /// The most loads of a walk: no limit where the whole cycle is there.
  [[nodiscard]] std::uint64_t most_loads() const {
    return links_ == slots_ ? ~std::uint64_t{0} : gap();
  }

  /// The step at which walker 0 begins a walk of `loads` loads. Throws std::length_error for more
  /// than most_loads().
  std::uint64_t begin(std::uint64_t loads) {
    if (loads > most_loads()) throw std::length_error{"a walk longer than its piece of the cycle"};
    if (links_ == slots_) {
      const std::uint64_t first = position_;
      position_ = (position_ + loads) % slots_;
      return first;
    }
    const std::uint64_t first = position_ + loads <= gap() ? position_ : 0;
    position_ = first + loads;
    return first;
  }

  /// The step at which `walker` ends a walk of `loads` loads that walker 0 begins at `first`.
  [[nodiscard]] std::uint64_t end(std::uint64_t first, std::uint64_t walker,
                                  std::uint64_t loads) const {
    return (first + walker * gap() + loads) % slots_;
  }

 private:
  std::uint64_t slots_;
  std::uint64_t links_;
  std::uint64_t walkers_;
  std::uint64_t position_ = 0;
};

}  // namespace strata
