// Experiments with deliberate mistakes: benchmarks that are in no list and no sweep, and that only
// `strata selftest` runs.
#pragma once

#include "harness/case/benchmark.hpp"

#include <string_view>
#include <vector>

namespace strata {

inline constexpr std::string_view controls_suite = "controls";

/// Like benchmarks(), which omits the controls, but with them.
[[nodiscard]] const std::vector<Enrolled>& benchmarks_and_controls();

}  // namespace strata
