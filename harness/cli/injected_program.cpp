#include "harness/cli/injected_program.hpp"

#include "harness/base/finally.hpp"
#include "harness/base/ignored_signal.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/base/text.hpp"
#include "harness/base/this_process.hpp"
#include "harness/counters/counters.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <system_error>
#include <unistd.h>

namespace strata {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t running = 0;  // the program's process

/// Without it, the program would go on alone.
void forward(int signal) {
  if (running > 0) (void)::kill(running, signal);
}

}  // namespace

std::optional<fs::path> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return ::access(name.c_str(), X_OK) == 0 ? std::optional<fs::path>{name} : std::nullopt;
  }
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): before threads
  for (const auto folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const fs::path file = fs::path{folder.empty() ? "." : folder} / name;
    if (::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return file;
  }
  return std::nullopt;
}

fs::path required_program(const std::string& name) {
  if (auto found = find_program(name)) return *found;
  refuse({name}, "no such program, or not executable", "a program that uses CUDA",
         "check its path and permissions");
}

fs::path injected_library(std::string_view file, std::string_view action) {
  fs::path path = program_folder() / file;
  if (std::error_code error; !fs::exists(path, error)) {
    throw CountersUnavailable{
        fmt::format("cannot {}: this build has no {}, which needs CUPTI", action, file),
        "rebuild where a CUDA compiler (nvcc) and CUPTI are installed"};
  }
  // The driver is silent about a library that it cannot load.
  void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    throw CountersUnavailable{
        fmt::format("cannot {}: {}", action, why == nullptr ? "unknown error" : one_line(why)),
        "install CUPTI, or rebuild with its present location"};
  }
  (void)::dlclose(library);
  return path;
}

std::string ending_of(int status) {
  if (WIFEXITED(status)) {
    const int code = WEXITSTATUS(status);
    return code == 0 ? std::string{} : fmt::format("exited with status {}", code);
  }
  return fmt::format("was killed by signal {}", WTERMSIG(status));
}

int run_injected(const InjectedProgram& program, int watched,
                 const std::function<void()>& meanwhile) {
  std::vector<std::string> environment{"CUDA_INJECTION64_PATH=" + program.library.string()};
  environment.insert(environment.end(), program.environment.begin(), program.environment.end());
  const auto is_replaced = [&](std::string_view variable) {
    const auto name = variable.substr(0, variable.find('=') + 1);
    return std::ranges::any_of(environment, [&](const auto& own) { return own.starts_with(name); });
  };
  std::vector<std::string> kept;
  for (char** one = environ; *one != nullptr; ++one) {
    if (!is_replaced(*one)) kept.emplace_back(*one);
  }
  environment.insert(environment.end(), kept.begin(), kept.end());
  std::vector<std::string> words = program.words;
  auto argv = argument_vector(words);
  auto envp = argument_vector(environment);
  const IgnoredSignal interrupt{SIGINT};  // only for the program: its files are kept
  const HandledSignal termination{SIGTERM, forward};
  posix_spawnattr_t attributes{};
  (void)::posix_spawnattr_init(&attributes);
  const Finally attributes_go = finally([&] { (void)::posix_spawnattr_destroy(&attributes); });
  sigset_t defaults{};
  (void)::sigemptyset(&defaults);
  (void)::sigaddset(&defaults, SIGINT);
  (void)::posix_spawnattr_setsigdefault(&attributes, &defaults);
  (void)::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t actions{};
  (void)::posix_spawn_file_actions_init(&actions);
  const Finally actions_go = finally([&] { (void)::posix_spawn_file_actions_destroy(&actions); });
  if (program.is_silent) {
    for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
      (void)::posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
    }
  }
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, argv.front(), &actions, &attributes, argv.data(), envp.data());
  if (error != 0) {
    refuse({program.words.front()}, std::generic_category().message(error), "an executable program",
           "check its path and permissions");
  }
  running = child;
  const Finally no_longer_runs = finally([] { running = 0; });
  int status = 0;
  for (pid_t ended = 0; ended == 0;) {
    constexpr int milliseconds = 50;
    pollfd ready{.fd = watched, .events = POLLIN, .revents = 0};
    (void)::poll(&ready, 1, milliseconds);
    ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno == EINTR) ended = 0;
    meanwhile();
  }
  return status;
}

}  // namespace strata
