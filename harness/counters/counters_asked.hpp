// What --counters says, and which counters that stands for.
#pragma once

#include "harness/case/sweep.hpp"
#include "harness/counters/counters.hpp"

#include <span>
#include <string>
#include <vector>

namespace strata {

/// The set `memory`, and what the benchmarks of the sweep want beside it, where it can be had.
inline constexpr const char* counters_auto = "auto";
inline constexpr const char* counters_none = "none";

/// The names behind the flags, each of which may join several by commas; {"auto"} when there is no
/// flag. Throws UsageError for an empty name, one that comes twice, and for auto or none beside
/// others.
[[nodiscard]] std::vector<std::string> parse_counters(const std::vector<std::string>& flags);

/// What is to be opened: nothing for {"none"}. `wanted` stands beside `memory` for {"auto"}, and
/// each case counts its own benchmark's part of it.
[[nodiscard]] CounterSelection selection_of(const std::vector<std::string>& asked,
                                            std::span<const std::string> wanted);

}  // namespace strata
