#pragma once

#include <cstdint>

namespace strata::access {

/// What an instruction does to memory.
enum class AccessKind : std::uint8_t { load, store, atomic, reduction, copy, matrix };

}  // namespace strata::access
