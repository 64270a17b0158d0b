// What went to the queue of a device. Host only.
#pragma once

#include <cstdint>

namespace strata {

struct Queued {
  std::uint64_t copies = 0;    ///< between host and device
  std::uint64_t bytes = 0;     ///< of the copies
  std::uint64_t launches = 0;  ///< of kernels, of fills of memory, and of graphs of both
  bool operator==(const Queued&) const = default;
};
[[nodiscard]] constexpr Queued operator+(const Queued& a, const Queued& b) {
  return {a.copies + b.copies, a.bytes + b.bytes, a.launches + b.launches};
}

}  // namespace strata
