// Accesses of a block exchanged through shared memory, so that neighbouring lanes access
// neighbouring words: a transpose, or the fields of structures.
//
// Each thread stores the address of its access to shared memory, and accesses memory for another
// thread, chosen so that the addresses of a warp are contiguous. That is right for any addresses,
// because only which thread of a block makes an access changes, between two barriers. Addresses
// decide only which accesses gain from it. Threads that leave the kernel before stay until the
// last exchange, because they access memory for others.
#pragma once

#include "harness/access/kernel_forms.hpp"
#include "harness/access/optimize/change.hpp"
#include "harness/access/optimize/weave.hpp"

namespace strata::access {

/// Whether some accesses are in the form that stage() changes.
[[nodiscard]] bool can_stage(KernelForms& kernel);

/// Adds to the checks what must hold of a launch. Throws NotOptimized.
[[nodiscard]] Woven stage(KernelForms& kernel, const Change& change, LaunchChecks& checks);

}  // namespace strata::access
