// The most important numbers of a run: the lines with which `strata run` ends. Which rows stand for
// the chip is decided as in analysis/src/strata/model/atlas.py, so that both report the same.
#pragma once

#include "harness/record/run_folder.hpp"

#include <string>
#include <vector>

namespace strata {

struct FirstNumber {
  std::string what;    ///< "L2 latency"
  std::string value;   ///< "280.8 cycles (142 ns)"; "invalid" if no row of it is valid
  std::string remark;  ///< a limit that it is compared with, or why it is invalid; may be empty
};

/// At most ten. What was not measured is left out.
[[nodiscard]] std::vector<FirstNumber> first_numbers(const RunContext& context,
                                                     const std::vector<CaseRecord>& records);

/// One line per number, in columns.
[[nodiscard]] std::vector<std::string> in_columns(const std::vector<FirstNumber>& numbers);

}  // namespace strata
