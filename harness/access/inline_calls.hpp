// A kernel in which the functions that it calls are part of its own code, so that their accesses
// are those of the call.
#pragma once

#include "harness/access/ptx.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::access {

/// Whether the instruction calls a function whose code is in the module. Calls through a pointer,
/// and functions of the system (`vprintf`), have none.
[[nodiscard]] bool calls_code(const ptx::Module& module, const ptx::Instruction& one);

struct InlinedKernel {
  ptx::Module module;
  /// By instruction of the kernel: the one of the original kernel, which is a call for those of
  /// functions; one more for its end.
  std::vector<std::uint32_t> origins;
};

/// The module again, with all calls of `kernel` replaced by the code that they call. Calls that
/// recur stay. Nothing if it calls no code.
[[nodiscard]] std::optional<InlinedKernel> inline_calls(const ptx::Module& module,
                                                        std::uint32_t kernel);

}  // namespace strata::access
