#include "harness/cli/program.hpp"

#include "harness/case/error.hpp"
#include "harness/case/subprocess.hpp"
#include "harness/case/text.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"
#include "harness/run/worker.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>

namespace strata {
namespace {

int fail(ExitCode code, std::string_view what) {
  // Not fmt::print, which throws if stderr is closed.
  (void)std::fputs(fmt::format("strata: {}\n", one_line(what)).c_str(), stderr);
  return static_cast<int>(code);
}

/// Internal to `run`: hidden.
void add_worker(Command app, int& status) {
  struct Options {
    std::string device = "auto";
    CounterSelection counters;
    bool probe = false;
    bool count = false;
    bool trace = false;
  };
  const auto options = std::make_shared<Options>();
  auto worker = app.hidden_subcommand("worker");
  worker.option("--device", options->device);
  worker.option("--counters", options->counters.wanted);
  worker.flag("--probe", options->probe);
  worker.flag("--count", options->count);
  worker.flag("--trace", options->trace);
  worker.flag("--by-benchmark", options->counters.by_benchmark);
  worker.on_run([options, &status] {
    const auto request = parse_device_request(options->device);
    if (options->probe) {
      status = answer_probe(request, options->counters);
    } else {
      status = run_job(request, options->count ? std::optional{options->counters} : std::nullopt,
                       options->trace);
    }
  });
}

int parse(std::vector<std::string> command,
          const std::function<void(Command app, int& status)>& add) {
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
  add(Command{app}, status);
  add_worker(Command{app}, status);
  try {
    app.parse(static_cast<int>(command.size()), argument_vector(command).data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(ExitCode::usage, fmt::format("{}; see strata --help", error.what()));
  }
  return status;
}

}  // namespace

int run_program(std::vector<std::string> command,
                const std::function<void(Command app, int& status)>& add) {
  try {
    return parse(std::move(command), add);
  } catch (const UsageError& error) {
    return fail(ExitCode::usage, error.what());
  } catch (const DeviceUnavailable& error) {
    return fail(ExitCode::no_device, error.what());
  } catch (const CountersUnavailable& error) {
    const std::string remedy = error.mend.empty() ? "" : "; " + error.mend;
    return fail(ExitCode::no_device, error.what() + remedy);
  } catch (const std::exception& error) {
    return fail(ExitCode::failed, error.what());
  }
}

}  // namespace strata
