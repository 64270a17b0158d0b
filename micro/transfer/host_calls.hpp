// Descriptions of calls of the host, without a kernel.
#pragma once

#include "harness/measure/experiment.hpp"

#include <string>
#include <utility>
#include <vector>

namespace strata {

/// `checked`: what is verified, as in Experiment.
[[nodiscard]] inline Experiment host_calls(std::vector<Row> rows, std::string checked) {
  Experiment experiment{.rows = std::move(rows),
                        .has_clock = false,
                        .checked = std::move(checked),
                        .partly_host_time = true,
                        .not_counted = "no kernel runs"};
  experiment.checks.emplace_back(
      TimersApart{"the calls are the host's alone: a GPU has no time for them"});
  return experiment;
}

}  // namespace strata
