// The load of this machine by other work.
#pragma once

#include "harness/record/device.hpp"

namespace strata {

/// Load average of a busy machine, in cores.
inline constexpr double busy_load = 0.5;
/// Whether other work disturbs measurements on the CPU; one of the findings of diagnose_host().
[[nodiscard]] Finding diagnose_load();

}  // namespace strata
