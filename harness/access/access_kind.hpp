#pragma once

#include <cstdint>

namespace strata::access {

/// The kind of memory access of an instruction.
enum class AccessKind : std::uint8_t { load, store, atomic, reduction, copy, matrix };

}  // namespace strata::access
