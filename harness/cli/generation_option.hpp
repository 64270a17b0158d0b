// The values of --generation.
#pragma once

#include "harness/model/coalescing.hpp"

#include <string>
#include <vector>

namespace strata {

/// The generations that were asked for by their names or by compute capabilities ("9.0", "8.x"), in
/// their order; all of `otherwise` when nothing was, all that there are when it is empty. Throws
/// UsageError.
[[nodiscard]] std::vector<std::string> chosen_generations(
    std::vector<std::string> asked, const std::vector<std::string>& otherwise = {});

/// The names of `known` that were asked for, in the order of `known`; all when nothing was. Throws
/// UsageError for one that there is not; `mend` helps where none is near.
[[nodiscard]] std::vector<std::string> chosen(std::string_view option,
                                              const std::vector<std::string>& asked,
                                              std::vector<std::string> known,
                                              std::string_view mend = "omit it for all");

}  // namespace strata
