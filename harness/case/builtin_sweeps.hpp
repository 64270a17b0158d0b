#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace strata {

/// Name and text of every sweep that this executable carries; generated from sweeps/*.yaml.
[[nodiscard]] std::span<const std::pair<std::string_view, std::string_view>> builtin_sweeps();

}  // namespace strata
