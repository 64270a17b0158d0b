#pragma once

#include <cstdint>

namespace strata::access {

/// The kind of memory access of an instruction.
enum class AccessKind : std::uint8_t { load, store, atomic, reduction, copy, matrix };

/// How an atomic or reduction of shared memory is executed.
enum class SharedAtomic : std::uint8_t {
  none,    ///< it is not one
  native,  ///< one machine instruction: each bank serves one lane per wavefront
  swap,    ///< likewise, with two wavefronts for the two operands of a compare and swap
  loop     ///< a loop, or of 64 bits: its wavefronts are not modelled
};

}  // namespace strata::access
