// Experiments that are wrong on purpose: benchmarks of a suite that no list and no sweep has, which
// `strata selftest` alone asks for.
#pragma once

#include "harness/case/benchmark.hpp"

#include <string_view>
#include <vector>

namespace strata {

inline constexpr std::string_view controls_suite = "controls";

/// As benchmarks(), which leaves the controls out, with them.
[[nodiscard]] const std::vector<Enrolled>& benchmarks_and_controls();

}  // namespace strata
