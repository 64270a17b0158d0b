#include "harness/cli/commands.hpp"
#include "harness/core/build_info.hpp"
#include "harness/core/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace strata {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// The interpreter that the set-up chose: STRATA_PYTHON, else the environment beside the sources,
/// else what PATH has.
std::string interpreter(const fs::path& source) {
  if (const char* named = std::getenv("STRATA_PYTHON"); named != nullptr && *named != '\0') {
    return named;
  }
  const fs::path own = source / ".venv" / "bin" / "python";
  return is_there(own) ? own.string() : "python3";
}

}  // namespace

int analysis_command(const std::vector<std::string>& arguments) {
  const fs::path source{source_folder()};
  const fs::path package = source / "analysis" / "src";
  if (is_there(package)) {
    const char* before = std::getenv("PYTHONPATH");
    const std::string path =
        before == nullptr || *before == '\0' ? package.string() : package.string() + ':' + before;
    (void)::setenv("PYTHONPATH", path.c_str(), 1);
  }
  std::vector<std::string> words{interpreter(source), "-m", "strata"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  (void)::execvp(argv[0], argv.data());
  throw UsageError{
      fmt::format("cannot start {}: {}; `make setup` makes the Python environment, "
                  "STRATA_PYTHON names another",
                  words[0], std::strerror(errno))};
}

}  // namespace strata
