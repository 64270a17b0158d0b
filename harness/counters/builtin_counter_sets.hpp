#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace strata {

/// Name and text of every counter set that this executable carries; generated from
/// harness/counters/sets/*.yaml.
[[nodiscard]] std::span<const std::pair<std::string_view, std::string_view>> builtin_counter_sets();

}  // namespace strata
