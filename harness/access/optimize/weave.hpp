// The body of an optimized kernel: the work of several threads, or passes of a loop, in one, with
// their accesses grouped.
//
// Straight code is interleaved. Where the threads that one does the work of part at a branch, each
// goes its way by itself, one after the other, up to where all meet again; where they agree, as
// they mostly do, they go on together. Accesses are grouped where all of a group happen in any
// case: in one block of straight code.
#pragma once

#include "harness/access/kernel_forms.hpp"
#include "harness/access/optimize/change.hpp"
#include "harness/access/optimize/independence.hpp"

#include <cstdint>
#include <set>
#include <string>

namespace strata::access {

struct Woven {
  std::string text;      ///< what stands between the braces of the kernel
  unsigned groups = 0;   ///< accesses of several
  unsigned grouped = 0;  ///< accesses that are in them
  std::set<std::uint32_t> grouped_instructions = {};
};

/// The name of the parameter that tells how many blocks the original has.
[[nodiscard]] std::string blocks_parameter(const ptx::Kernel& kernel);

/// Adds to the checks what must hold of a launch. Throws NotOptimized.
[[nodiscard]] Woven weave(KernelForms& kernel, const Change& change, LaunchChecks& checks,
                          Independence& independence);

}  // namespace strata::access
