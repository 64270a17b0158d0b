// The seeds of all generators.
#pragma once

#include <string>

namespace strata {

/// For CLI11's check: why `text` is not a seed; empty if it is.
[[nodiscard]] std::string refuse_no_seed(const std::string& text);

}  // namespace strata
