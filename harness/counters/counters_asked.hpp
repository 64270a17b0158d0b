// The flag --counters and the counters that it selects.
#pragma once

#include "harness/case/sweep.hpp"
#include "harness/counters/counters.hpp"

#include <span>
#include <string>
#include <vector>

namespace strata {

/// The set `memory` and those that the benchmarks of the sweep need besides, where available.
inline constexpr const char* counters_auto = "auto";
inline constexpr const char* counters_none = "none";

/// The names of all flags, each a comma-separated list; {"auto"} without flags. Throws UsageError
/// for an empty or repeated name, and for auto or none combined with others.
[[nodiscard]] std::vector<std::string> parse_counters(const std::vector<std::string>& flags);

/// The selection to open, empty for {"none"}. {"auto"} stands for `memory` and `wanted`, of which
/// each case counts the part of its own benchmark.
[[nodiscard]] CounterSelection selection_of(const std::vector<std::string>& asked,
                                            std::span<const std::string> wanted);

}  // namespace strata
