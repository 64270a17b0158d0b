// The build of this executable; generated at every build.
#pragma once

#include "harness/record/run_folder.hpp"

#include <string_view>

namespace strata {

[[nodiscard]] const BuildInfo& build_info();

/// Location of the sources, where a program that is not installed finds the analysis; empty in a
/// package.
[[nodiscard]] std::string_view source_folder();

}  // namespace strata
