// What `strata access --out` records: a case for each access of each launch, with what was
// predicted of it and, where a device counted, what that moved.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/cli/access_output.hpp"
#include "harness/record/measurement.hpp"

#include <vector>

namespace strata::access {

/// The records of a run on `backend`, by the rules of 7.x: of each case the prediction, and at the
/// end the counts of those that were counted. Gate `model` holds both equal. A case of
/// `kernel_access` is one access; its id hangs on kernel, launch and line of the source, and on no
/// place in the PTX. A case of `kernel_launch` is all of them in one space of memory: runs before
/// and after a change of the source have those in common.
[[nodiscard]] std::vector<CaseRecord> records_of(const Report& report, Backend backend);

/// What a device counts of an access.
[[nodiscard]] std::vector<CountedQuantity> counted_quantities();

/// What the benchmarks of these records say of themselves.
[[nodiscard]] std::vector<Benchmark> declarations_of(const std::vector<CaseRecord>& records);

}  // namespace strata::access
