// The values of --generation.
#pragma once

#include "harness/model/coalescing.hpp"

#include <string>
#include <vector>

namespace strata {

/// The generations requested by name or compute capability ("9.0", "8.x"), in their order. Without
/// a request `otherwise`, or all if that is empty. Throws UsageError.
[[nodiscard]] std::vector<std::string> chosen_generations(
    std::vector<std::string> names, const std::vector<std::string>& otherwise = {});

/// The requested names, in the order of `known`; all if none was requested. Throws UsageError for a
/// name that does not exist; `mend` is the hint if none is similar.
[[nodiscard]] std::vector<std::string> chosen(std::string_view option,
                                              const std::vector<std::string>& names,
                                              std::vector<std::string> known,
                                              std::string_view mend = "omit it for all");

}  // namespace strata
