#include "harness/base/error.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/base/this_process.hpp"
#include "harness/cli/commands.hpp"
#include "harness/record/build_info.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>
#include <utility>

namespace strata {
namespace {

namespace fs = std::filesystem;

/// What to do if the analysis package does not start.
std::string analysis_mend() {
  const std::string needed = source_folder().empty()
                                 ? "install the packages of share/strata/requirements.lock"
                                 : "run `make setup` to install what it needs";
  return needed + ", or set STRATA_PYTHON to a Python that has them";
}

}  // namespace

std::vector<std::string> analysis_call(const std::vector<std::string>& arguments) {
  const auto is_there = [](const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
  };
  const fs::path program = program_folder();
  const fs::path source{source_folder()};
  fs::path package = program.parent_path() / "share" / "strata" / "analysis";
  if (!is_there(package) && !source.empty()) package = source / "analysis" / "src";
  if (is_there(package)) {
    const std::string before = environment_variable("PYTHONPATH");
    const std::string path = package.string() + (before.empty() ? "" : ':' + before);
    (void)::setenv("PYTHONPATH", path.c_str(), 1);
  }
  std::string python = environment_variable("STRATA_PYTHON");
  for (const fs::path& own : {program / "python3", source / ".venv" / "bin" / "python"}) {
    if (python.empty() && own.is_absolute() && is_there(own)) python = own.string();
  }
  if (python.empty()) python = "python3";
  // -P: a strata.py or jinja2.py in the working folder must not be run.
  std::vector<std::string> words{python, "-P", "-m", "strata"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

void add_analysis(Command app) {
  constexpr std::array<std::pair<const char*, const char*>, 11> forwarded{
      {{"report", "figures, tables and one HTML page of a run"},
       {"roofline", "kernels under the ceilings that the run measured"},
       {"compare", "what changed between runs; differences between devices"},
       {"summary", "the most important results of a run"},
       {"ask", "numbers of a device, for a question in words: h200 l2 latency"},
       {"map", "groups of SMs and L2 lines that are near each other, and how runs differ in them"},
       {"fleet", "outliers among the GPUs of many runs; fleet add DATASET keeps runs"},
       {"validate", "check a run folder against its schema"},
       {"export", "convert a run to Google Benchmark's or pyperf's JSON, Parquet or CSV"},
       {"submit", "check, anonymise and pack a run, to contribute it"},
       {"import", "convert Google Benchmark's JSON or Nsight Compute's CSV to a run"}}};
  for (const auto& [name, what] : forwarded) {
    auto sub = app.subcommand(name, fmt::format("{} (python -m strata {})", what, name));
    sub.forward_all();  // --help goes to the analysis package too
    sub.on_run([sub, command = std::string{name}] {
      auto arguments = sub.remaining();
      arguments.insert(arguments.begin(), command);
      auto words = analysis_call(arguments);
      (void)::execvp(words[0].c_str(), argument_vector(words).data());
      throw UsageError{
          fmt::format("cannot start {}: {}; {}", words[0], std::strerror(errno), analysis_mend())};
    });
  }
}

}  // namespace strata
