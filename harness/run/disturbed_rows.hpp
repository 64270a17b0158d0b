// Explains the invalid rows of a run on a CPU that other work disturbed.
#pragma once

#include "harness/record/run_folder.hpp"

#include <string>
#include <vector>

namespace strata {

/// One line if the only failed checks of most invalid rows are `noise` and `preempted`, and other
/// processes used the CPU: a high load when the run started, or preempted rows. Otherwise empty.
[[nodiscard]] std::string explain_disturbed_rows(const RunContext& context,
                                                 const std::vector<CaseRecord>& records);

}  // namespace strata
