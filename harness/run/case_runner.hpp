// One case, from its parameters to its record. Whatever a benchmark throws ends its case, not the
// run.
#pragma once

#include "harness/case/case.hpp"
#include "harness/case/plan.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/measurement.hpp"

#include <optional>

namespace strata {

/// Times `which` on `device`, or counts it when `counting` has a source, or traces it when that has
/// a tracer: measured, skipped or
/// failed with the reason, the noise gate of every timed quantity filled in. Nothing where the
/// source gives the counts later: the case is to be run again then.
[[nodiscard]] std::optional<CaseRecord> run_case_or_wait(const Case& which, const Plan& plan,
                                                         Device& device, Cache& cache,
                                                         const Counting& counting);

/// The same, timed or with a source that counts at once.
[[nodiscard]] inline CaseRecord run_case(const Case& which, const Plan& plan, Device& device,
                                         Cache& cache, const Counting& counting = {}) {
  return run_case_or_wait(which, plan, device, cache, counting).value();
}

}  // namespace strata
