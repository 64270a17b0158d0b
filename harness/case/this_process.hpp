// How this process was started.
#pragma once

#include <filesystem>
#include <string>

namespace strata {

/// Empty if it is not set.
[[nodiscard]] std::string environment_variable(const char* name);

/// The folder of the executable; empty if it is not known.
[[nodiscard]] std::filesystem::path program_folder();

}  // namespace strata
