// What this executable was built from: written anew at every build.
#pragma once

#include "harness/record/run_folder.hpp"

#include <string_view>

namespace strata {

[[nodiscard]] const BuildInfo& build_info();

/// Where the sources were: the analysis package is looked for there first.
[[nodiscard]] std::string_view source_folder();

}  // namespace strata
