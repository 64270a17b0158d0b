#pragma once

#include <cstdint>

namespace strata {

/// The record that one writer (a warp, a block, an SM, a core of a CPU) stores of one launch. Plain
/// data, written by kernels. Cycle counts may be subtracted only within one stamp.
struct Stamp {
  static constexpr unsigned marks = 8;
  std::uint64_t
      cycles[marks];  ///< the core's counter: at the start, at the end; some kernels use more marks
  std::uint64_t nanoseconds[2];  ///< the timer that all cores share, at the start and at the end
  std::uint64_t result;          ///< result of the work: a sum, the end of a chain
  std::uint32_t core;            ///< SM or CPU that it ran on
  std::uint32_t tag;             ///< another number of the kernel, or the blocks of a merged stamp
};

}  // namespace strata
