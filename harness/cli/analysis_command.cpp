#include "harness/case/error.hpp"
#include "harness/cli/commands.hpp"
#include "harness/record/build_info.hpp"
#include "harness/run/subprocess.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
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

/// The command that calls the analysis package; adds the package to PYTHONPATH.
std::vector<std::string> call_of(const std::vector<std::string>& arguments) {
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
  return words;
}

}  // namespace

int analysis_command(const std::vector<std::string>& arguments) {
  auto words = call_of(arguments);
  (void)::execvp(words[0].c_str(), argument_vector(words).data());
  throw UsageError{
      fmt::format("cannot start {}: {}; `make setup` makes the Python environment, "
                  "STRATA_PYTHON names another",
                  words[0], std::strerror(errno))};
}

bool say_first_numbers(const std::string& run) {
  auto words = call_of({"summary", "--brief", run});
  posix_spawn_file_actions_t actions{};
  if (::posix_spawn_file_actions_init(&actions) != 0) return false;
  pid_t child = -1;
  const bool started =
      ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
      ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
      ::posix_spawnp(&child, words[0].c_str(), &actions, nullptr, argument_vector(words).data(),
                     environ) == 0;
  (void)::posix_spawn_file_actions_destroy(&actions);
  if (!started) return false;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace strata
