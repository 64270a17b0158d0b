// strata access capture: runs a program and writes its launches as launch files.
#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
#include "harness/base/unique_fd.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/injected_program.hpp"
#include "harness/run/worker_channel.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
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

/// Runs the program while its library reports its progress.
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
  const InjectedProgram program{
      .words = options.program,
      .library = library,
      .environment = {"STRATA_CAPTURE_FOLDER=" + folder.string(),
                      fmt::format("STRATA_CAPTURE_CHANNEL={}", inherited.get()),
                      fmt::format("STRATA_CAPTURE_BYTES={}", options.megabytes << 20U)}};
  ending = ending_of(run_injected(program, channel.get(), read_channel));
  return report;
}

ExitCode capture(const CaptureOptions& options) {
  const std::string& name = options.program.front();
  const fs::path program = required_program(name);
  check_folder(options.out);
  const fs::path library = injected_library("libstrata_capture.so", "capture launches");
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
  if (report.modules.empty()) command += ' ' + program.string();
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
