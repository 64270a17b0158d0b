// The command line of strata. The other files of this folder implement the subcommands.
#include "harness/case/error.hpp"
#include "harness/case/text.hpp"
#include "harness/cli/commands.hpp"
#include "harness/record/build_info.hpp"
#include "harness/run/worker.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace strata {
namespace {

int fail(ExitCode code, std::string_view what) {
  // Not fmt::print, which throws if stderr is closed.
  (void)std::fputs(fmt::format("strata: {}\n", one_line(what)).c_str(), stderr);
  return static_cast<int>(code);
}

/// Internal to `run`: hidden.
void add_worker(CLI::App& app, int& status) {
  struct Options {
    std::string device = "auto";
    CounterSelection counters;
    bool probe = false;
    bool count = false;
    bool trace = false;
  };
  const auto options = std::make_shared<Options>();
  auto* worker = app.add_subcommand("worker", "")->group("");
  worker->add_option("--device", options->device);
  worker->add_option("--counters", options->counters.wanted)->allow_extra_args(false);
  worker->add_flag("--probe", options->probe);
  worker->add_flag("--count", options->count);
  worker->add_flag("--trace", options->trace);
  worker->add_flag("--by-benchmark", options->counters.by_benchmark);
  worker->callback([options, &status] {
    const auto request = parse_device_request(options->device);
    if (options->probe) {
      status = answer_probe(request, options->counters);
    } else {
      status = run_job(request, options->count ? std::optional{options->counters} : std::nullopt,
                       options->trace);
    }
  });
}

int command(int argc, char** argv) {
  CLI::App app{"Measures the memory hierarchy of a GPU, or of the CPU if there is no GPU.",
               "strata"};
  const BuildInfo& build = build_info();
  app.set_version_flag("--version",
                       fmt::format("{} ({})", build.version,
                                   build.commit.empty() ? "unknown commit" : build.commit));
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 all cases measured or skipped for a stated reason; 1 some case failed; 2 bad "
      "input;\n3 no usable device; 130 interrupted (the run folder can be resumed).\nFirst steps: "
      "strata doctor; strata run quick; strata report RUN");
  int status = 0;
  add_doctor(app);
  add_list(app);
  add_run(app, status, {argv, argv + argc});
  add_bench(app, status);
  add_selftest(app, status, {argv, argv + argc});
  add_counters(app);
  add_model(app);
  add_access(app, status, {argv, argv + argc});
  add_access_worker(app);
  add_nbody(app, status);
  add_neighbours(app, status);
  add_fstat(app, status);
  add_ladder(app);
  add_analysis(app);
  add_worker(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(ExitCode::usage, fmt::format("{}; see strata --help", error.what()));
  }
  return status;
}

}  // namespace

void print_written(const std::string& file, std::string_view summary) {
  fmt::print("{}: {}\n", one_line(file), summary);
}

void print_note(std::string_view label, std::string_view text) {
  constexpr std::size_t page = 98;  // columns of text
  constexpr std::size_t column = 12;
  std::string line;
  const auto print_line = [&] {
    fmt::print("{:<{}}{}\n", label, column, line);
    label = {};
    line.clear();
  };
  for (const std::string_view word : split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > page - column) print_line();
    if (!line.empty()) line += ' ';
    line += word;
  }
  print_line();
}

}  // namespace strata

int main(int argc, char** argv) {
  using strata::ExitCode;
  try {
    return strata::command(argc, argv);
  } catch (const strata::UsageError& error) {
    return strata::fail(ExitCode::usage, error.what());
  } catch (const strata::DeviceUnavailable& error) {
    return strata::fail(ExitCode::no_device, error.what());
  } catch (const strata::CountersUnavailable& error) {
    const std::string remedy = error.mend.empty() ? "" : "; " + error.mend;
    return strata::fail(ExitCode::no_device, error.what() + remedy);
  } catch (const std::exception& error) {
    return strata::fail(ExitCode::failed, error.what());
  }
}
