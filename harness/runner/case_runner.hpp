// One case, from its parameters to its record. Whatever a benchmark throws ends its case, not the
// run.
#pragma once

#include "harness/core/case.hpp"
#include "harness/core/measurement.hpp"
#include "harness/core/plan.hpp"
#include "harness/core/session.hpp"

namespace strata {

/// Measures `which` on `device`: measured, skipped or failed with the reason, the noise gate of
/// every timed quantity filled in. Never throws for what the benchmark does.
[[nodiscard]] CaseRecord run_case(const Case& which, const Plan& plan, Device& device,
                                  Cache& cache);

}  // namespace strata
