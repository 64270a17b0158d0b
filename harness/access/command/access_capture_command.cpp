// strata access capture: runs a program and writes its launches as launch files.
#include "harness/base/error.hpp"
#include "harness/base/ignored_signal.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/base/text.hpp"
#include "harness/base/this_process.hpp"
#include "harness/base/unique_fd.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counters.hpp"
#include "harness/run/worker_channel.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace strata {
namespace {

namespace fs = std::filesystem;

struct CaptureOptions {
  std::vector<std::string> program;
  std::string out = "captured";
  std::uint64_t megabytes = 64;
};

/// What the library reported about a program.
struct CaptureReport {
  bool has_begun = false;
  std::vector<std::string> launches;
  std::vector<std::string> modules;  ///< with PTX
  std::vector<std::string> left_out;
  std::vector<std::string> failures;
};

void note(const std::string& line, CaptureReport& report) {
  const auto rest = [&](std::string_view word) { return line.substr(word.size()); };
  const auto take = [&](std::string_view word, std::vector<std::string>& to) {
    if (line.starts_with(word)) to.push_back(rest(word));
  };
  report.has_begun = report.has_begun || line == "begun";
  take("launch ", report.launches);
  take("module ", report.modules);
  take("left out ", report.left_out);
  take("failed ", report.failures);
}

/// Path of a program, found as a shell finds it.
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

/// The library next to this executable. Throws CountersUnavailable if this machine cannot use it.
fs::path capture_library() {
  fs::path file = program_folder() / "libstrata_capture.so";
  if (std::error_code error; !fs::exists(file, error)) {
    throw CountersUnavailable{
        "cannot capture launches: this build has no libstrata_capture.so, which needs CUPTI",
        "rebuild where a CUDA compiler (nvcc) and CUPTI are installed"};
  }
  // The driver is silent about a library that it cannot load.
  void* const library = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    throw CountersUnavailable{fmt::format("cannot capture launches: {}",
                                          why == nullptr ? "unknown error" : one_line(why)),
                              "install CUPTI, or rebuild with its present location"};
  }
  (void)::dlclose(library);
  return file;
}

void check_folder(const std::string& out) {
  std::error_code error;
  if (fs::exists(out, error) && !fs::is_empty(out, error)) {
    refuse({"--out"}, in_quotes(out) + " is not empty", "a new or empty folder",
           "use another folder, or remove it");
  }
}

/// Creates the folder and returns its path. Throws UsageError.
fs::path made_folder(const std::string& out) {
  std::error_code error;
  fs::path folder = fs::absolute(out, error);
  fs::create_directories(folder, error);
  if (error) {
    refuse({"--out"}, fmt::format("cannot create {}: {}", in_quotes(out), error.message()),
           "a writable folder", "give another");
  }
  return folder;
}

/// How a program ended: "exited with status 3"; empty after success.
std::string ending_of(int status) {
  if (WIFEXITED(status)) {
    const int code = WEXITSTATUS(status);
    return code == 0 ? std::string{} : fmt::format("exited with status {}", code);
  }
  return fmt::format("was killed by signal {}", WTERMSIG(status));
}

/// Runs the program on this terminal until it ends, while its library reports its progress.
CaptureReport run_program(const CaptureOptions& options, const fs::path& library,
                          const fs::path& folder, std::string& ending) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error{errno, std::generic_category(), "a pipe"};
  }
  const UniqueFd channel{ends[0]};
  UniqueFd theirs{ends[1]};
  // Above the descriptors that programs rely on; the only one that they inherit from strata.
  constexpr int far = 200;
  const UniqueFd inherited{::fcntl(theirs.get(), F_DUPFD, far)};  // NOLINT: fcntl is variadic
  theirs.reset();
  (void)::fcntl(channel.get(), F_SETFL, O_NONBLOCK);  // NOLINT
  std::vector<std::string> environment{
      "CUDA_INJECTION64_PATH=" + library.string(), "STRATA_CAPTURE_FOLDER=" + folder.string(),
      fmt::format("STRATA_CAPTURE_CHANNEL={}", inherited.get()),
      fmt::format("STRATA_CAPTURE_BYTES={}", options.megabytes << 20U)};
  for (char** one = environ; *one != nullptr; ++one) {
    if (!std::string_view{*one}.starts_with("CUDA_INJECTION64_PATH="))
      environment.emplace_back(*one);
  }
  std::vector<std::string> words = options.program;
  auto argv = argument_vector(words);
  auto envp = argument_vector(environment);
  const IgnoredSignal interrupt{SIGINT};  // only for the program: its files are kept
  posix_spawnattr_t attributes{};
  (void)::posix_spawnattr_init(&attributes);
  sigset_t defaults{};
  (void)::sigemptyset(&defaults);
  (void)::sigaddset(&defaults, SIGINT);
  (void)::posix_spawnattr_setsigdefault(&attributes, &defaults);
  (void)::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, argv.front(), nullptr, &attributes, argv.data(), envp.data());
  (void)::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    refuse({options.program.front()}, std::generic_category().message(error),
           "an executable program", "check its path and permissions");
  }
  CaptureReport report;
  LineReader reader;
  const auto read_channel = [&] {
    for (std::size_t bytes = 1; bytes > 0;) {
      const auto batch = reader.read(channel.get());
      for (const auto& line : batch.lines)
        note(line.text, report);
      bytes = batch.bytes;
    }
  };
  int status = 0;
  for (pid_t ended = 0; ended == 0;) {
    constexpr int milliseconds = 50;
    pollfd ready{.fd = channel.get(), .events = POLLIN, .revents = 0};
    (void)::poll(&ready, 1, milliseconds);
    ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno == EINTR) ended = 0;
    read_channel();
  }
  ending = ending_of(status);
  return report;
}

ExitCode capture(const CaptureOptions& options) {
  const std::string& name = options.program.front();
  const auto program = find_program(name);
  if (!program) {
    refuse({name}, "no such program, or not executable", "a program that uses CUDA",
           "check its path and permissions");
  }
  check_folder(options.out);
  const fs::path library = capture_library();
  const fs::path folder = made_folder(options.out);
  std::string ending;
  const CaptureReport report = run_program(options, library, folder, ending);
  std::error_code ignored;
  if (fs::is_empty(folder, ignored)) (void)fs::remove(folder, ignored);
  for (const auto& one : report.left_out)
    fmt::print(stderr, "strata: left out {}\n", one_line(one));
  for (const auto& one : report.failures)
    fmt::print(stderr, "strata: {}\n", one_line(one));
  if (!ending.empty()) fmt::print(stderr, "strata: {} {}\n", one_line(name), ending);
  if (!report.failures.empty()) return ExitCode::failed;
  if (report.launches.empty()) {
    refuse(
        {name}, report.has_begun ? "launched no kernel" : "made no CUDA driver call",
        "a program that launches kernels",
        "pass the arguments with which it launches them; launches into a graph are not captured");
  }
  const auto in_folder = [&](const std::string& file) {
    return (fs::path{options.out} / file).string();
  };
  std::string command = "strata access";
  if (report.modules.empty()) command += ' ' + program->string();
  for (const auto& file : report.modules)
    command += ' ' + in_folder(file);
  for (const auto& file : report.launches)
    command += " --launch " + in_folder(file);
  fmt::print("{} launches, {} modules with PTX in {}\n{}\n", report.launches.size(),
             report.modules.size(), options.out, one_line(command));
  return ending.empty() ? ExitCode::success : ExitCode::failed;
}

}  // namespace

void add_access_capture(Command app, int& status) {
  const auto options = std::make_shared<CaptureOptions>();
  auto sub = app.subcommand(
      "capture", "run a program and write a launch file for each kernel and launch shape");
  sub.option("PROGRAM", options->program, "the program and its arguments, after --",
             "-- PROGRAM ARGS…")
      .required();
  sub.option("--out", options->out, "new folder for launch files, buffer contents and modules",
             "DIR");
  sub.option("--megabytes", options->megabytes,
             "buffer contents to save with each launch file, smallest buffers first", "MIB")
      .range(0, 1 << 14)
      .shows_default();
  sub.footer(
      "Runs an unmodified program with a library that the driver loads into it. Buffers are saved "
      "as they\nare before the launch; contents above --megabytes are left out. The last line of "
      "output is the\ncommand that analyses what was captured.\nExit status: 0; 1 the program or a "
      "file failed; 2 bad input; 3 no CUPTI.\nExample: strata access capture --out captured -- "
      "./program --size 1000");
  sub.on_run([options, &status] { status = static_cast<int>(capture(*options)); });
}

}  // namespace strata
