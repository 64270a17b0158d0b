// The most important numbers of a run, with which `strata run` ends. Each is the value of one row,
// chosen as in analysis/src/strata/model/atlas.py, so that both print the same.
#pragma once

#include "harness/record/run_folder.hpp"

#include <string>
#include <vector>

namespace strata {

/// One line per number: name, value, and its share of a limit. "invalid" and the failed checks if
/// no row of it is valid; without a row there is no line.
[[nodiscard]] std::vector<std::string> first_numbers(const RunContext& context,
                                                     const std::vector<CaseRecord>& records);

}  // namespace strata
