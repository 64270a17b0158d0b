// What --counters says, and which counters that stands for.
#pragma once

#include "harness/core/counters.hpp"

#include <string>
#include <vector>

namespace strata {

inline constexpr const char* counters_auto = "auto";  ///< the set `memory`, where it can be had
inline constexpr const char* counters_none = "none";

/// The names behind the flags, each of which may join several by commas; {"auto"} when there is no
/// flag. Throws UsageError for an empty name, one that comes twice, and for auto or none beside
/// others.
[[nodiscard]] std::vector<std::string> parse_counters(const std::vector<std::string>& flags);

/// What is to be opened: nothing for {"none"}.
[[nodiscard]] CounterSelection selection_of(const std::vector<std::string>& asked);

}  // namespace strata
