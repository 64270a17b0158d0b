// Empties the CPU's caches of a benchmark's data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata {

/// Displaces what the calling thread's caches hold by reading a large buffer of its own, which is
/// filled once: nothing dirty is left behind. Caches of other cores keep what they do not share.
class HostEviction {
 public:
  /// For a last-level cache of this size; the buffer has 4 times as much.
  explicit HostEviction(std::size_t last_level_bytes);
  /// For the largest cache of the CPU that the thread may use.
  HostEviction();

  void evict() const;
  [[nodiscard]] std::size_t bytes() const noexcept { return words_.size() * sizeof(words_[0]); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace strata
