// How this process was started.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace strata {

/// Empty if it is not set.
[[nodiscard]] std::string environment_variable(const char* name);

/// The file that a tool's name on the PATH means; empty if there is none.
[[nodiscard]] std::optional<std::string> find_in_path(std::string_view tool);

/// The folder of the executable; empty if it is not known.
[[nodiscard]] std::filesystem::path program_folder();

}  // namespace strata
