// One case, from its parameters to its record. Whatever a benchmark throws ends its case, not the
// run.
#pragma once

#include "harness/case/case.hpp"
#include "harness/case/plan.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/measurement.hpp"

namespace strata {

/// Thrown by a source that gives its counts later, to leave the body that asked for them. Nothing
/// that a body or a runner catches by accident.
struct CountingDeferred {};

/// Times `which` on `device`, or counts it when `counting` has a source: measured, skipped or
/// failed with the reason, the noise gate of every timed quantity filled in. A benchmark that times
/// while it is counted has failed. Never throws for what the benchmark does; lets
/// CountingDeferred through.
[[nodiscard]] CaseRecord run_case(const Case& which, const Plan& plan, Device& device, Cache& cache,
                                  const Counting& counting = {});

}  // namespace strata
