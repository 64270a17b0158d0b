// The seeds that the generators of all ladders take.
#pragma once

#include <string>

namespace strata {

/// For CLI11's check: why `text` is no seed, or nothing.
[[nodiscard]] std::string refuse_no_seed(const std::string& text);

}  // namespace strata
