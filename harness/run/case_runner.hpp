// One case, from its parameters to its record. An exception of a benchmark ends its case, not the
// run.
#pragma once

#include "harness/case/case.hpp"
#include "harness/case/plan.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/measurement.hpp"

#include <optional>

namespace strata {

/// Times `which` on `device`, counts it if `counting` has a source, or traces it if that has a
/// tracer. The result is measured, skipped or failed with the reason, and has the noise gate of
/// every timed quantity. Empty if the source gives the counts later: run the case again then.
[[nodiscard]] std::optional<CaseRecord> run_case_or_wait(const Case& which, const Plan& plan,
                                                         Device& device, Cache& cache,
                                                         const Counting& counting);

/// The same, timed or with a source that counts immediately.
[[nodiscard]] inline CaseRecord run_case(const Case& which, const Plan& plan, Device& device,
                                         Cache& cache, const Counting& counting = {}) {
  return run_case_or_wait(which, plan, device, cache, counting).value();
}

}  // namespace strata
