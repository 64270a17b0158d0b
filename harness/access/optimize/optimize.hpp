// Optimizes kernels: a copy beside the original that does the same with fewer requests and sectors,
// and what must hold of a launch for it to be the same.
#pragma once

#include "harness/access/optimize/change.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>

namespace strata::access {

/// The change, made of the module's kernel `number`. Throws NotOptimized.
[[nodiscard]] Optimized optimize(const ptx::Module& module, std::uint32_t number,
                                 const Change& change);

}  // namespace strata::access
