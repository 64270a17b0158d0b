#include "harness/base/this_process.hpp"

#include "harness/base/text.hpp"

#include <cstdlib>
#include <system_error>
#include <unistd.h>

namespace strata {

std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
  return value == nullptr ? "" : value;
}

std::optional<std::string> find_in_path(std::string_view tool) {
  const std::string path = environment_variable("PATH");
  for (const auto folder : split(path, ':')) {
    const std::filesystem::path file = std::filesystem::path{folder} / tool;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0)
      return file.string();
  }
  return std::nullopt;
}

std::filesystem::path program_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace strata
