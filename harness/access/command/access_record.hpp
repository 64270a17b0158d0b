// What `strata access --out` records: a case for each access of each launch, with the prediction
// and, if a device counted, its counts.
#pragma once

#include "harness/access/command/access_output.hpp"
#include "harness/case/benchmark.hpp"
#include "harness/record/measurement.hpp"

#include <vector>

namespace strata::access {

/// The records of a run on `backend`, by the rules of 7.x: the prediction of each case, then the
/// counts of those that were counted. Gate `model` compares the two. A case of `kernel_access` is
/// one access; its id depends on the kernel, the launch and the source line, but not on the
/// position in the PTX. A case of `kernel_launch` is all accesses in one memory space: runs before
/// and after a change of the source share those.
[[nodiscard]] std::vector<CaseRecord> records_of(const Report& report, Backend backend);

/// The quantities that a device counts for an access.
[[nodiscard]] std::vector<CountedQuantity> counted_quantities();

/// The declarations of these records' benchmarks.
[[nodiscard]] std::vector<Benchmark> declarations_of(const std::vector<CaseRecord>& records);

}  // namespace strata::access
