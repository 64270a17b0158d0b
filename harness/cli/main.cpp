// strata: one command. This file knows the flags, the other files of the folder do the work.
#include "harness/cli/commands.hpp"
#include "harness/core/build_info.hpp"
#include "harness/core/device.hpp"
#include "harness/core/error.hpp"
#include "harness/runner/worker.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {
namespace {

int fail(ExitCode code, std::string_view what) {
  // Not fmt::print, which throws when nobody reads stderr any more.
  (void)std::fputs(fmt::format("strata: {}\n", what).c_str(), stderr);
  return static_cast<int>(code);
}

int command(int argc, char** argv) {
  CLI::App app{"Measures the memory hierarchy of a GPU, or of the CPU where there is none.",
               "strata"};
  app.set_version_flag("--version",
                       std::string{build_info().version} + " (" +
                           (build_info().commit.empty() ? "unknown commit" : build_info().commit) +
                           ")");
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 all cases measured or skipped for a stated reason; 1 some case failed; 2 bad "
      "input;\n3 no usable device for what was asked; 130 interrupted (the run folder resumes).\n"
      "First steps: strata doctor; strata run quick; strata report RUN");

  auto* doctor = app.add_subcommand("doctor", "what can be measured here, and why not");

  ListOptions list_options;
  auto* list = app.add_subcommand("list", "benchmarks, the question each answers, axes, cost");
  list->add_option("--cases", list_options.cases, "list the case ids of this sweep instead")
      ->type_name("SWEEP");
  list->add_option("--backend", list_options.backend, "backend of those cases")
      ->check(CLI::IsMember({"cuda", "host"}))
      ->capture_default_str();

  RunOptions run_options;
  auto* run = app.add_subcommand("run", "measure a sweep: isolated workers, progress, resumable");
  run->add_option("sweep", run_options.sweep, "a file, or one of: quick, default, full")
      ->type_name("SWEEP")
      ->capture_default_str();
  run->add_option("--device", run_options.device, "auto, cuda:N or host")->capture_default_str();
  run->add_option("--filter", run_options.filter, "only cases whose id matches")->type_name("RE");
  run->add_option("--set", run_options.settings,
                  "replace an axis or a plan value: layout_read.layout=aos,soa, plan.max_samples=9")
      ->type_name("NAME.KEY=VALUE")
      ->allow_extra_args(false);
  run->add_option("--out", run_options.out, "where the run folder is made")
      ->type_name("DIR")
      ->capture_default_str();
  run->add_option("--resume", run_options.resume, "complete this run folder")->type_name("RUN");
  run->add_flag("--dry-run", run_options.dry_run, "print the cases and what they would cost");
  run->add_flag("--quiet", run_options.quiet, "no progress");

  BenchOptions bench_options;
  auto* bench = app.add_subcommand(
      "bench", "the same cases as a Google Benchmark program: every --benchmark_* flag works");
  bench->allow_extras();
  bench->add_option("--sweep", bench_options.sweep, "which cases")->capture_default_str();
  bench->add_option("--device", bench_options.device, "auto, cuda:N or host")
      ->capture_default_str();
  bench->add_option("--set", bench_options.settings, "as for run")
      ->type_name("NAME.KEY=VALUE")
      ->allow_extra_args(false);

  const std::vector<std::pair<std::string, std::string>> forwarded{
      {"report", "figures, tables and one HTML page of a run"},
      {"summary", "the numbers of a run that a person wants first"},
      {"validate", "check a run folder against its schema"}};
  std::vector<CLI::App*> analysis;
  for (const auto& [name, what] : forwarded) {
    auto* sub = app.add_subcommand(name, fmt::format("{} (python -m strata {})", what, name));
    sub->prefix_command();
    sub->set_help_flag();  // --help goes to the analysis package too
    analysis.push_back(sub);
  }

  std::string worker_device = "auto";
  bool probe = false;
  auto* worker = app.add_subcommand("worker", "")->group("");  // for `run` alone: not shown
  worker->add_option("--device", worker_device);
  worker->add_flag("--probe", probe);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(ExitCode::usage, fmt::format("{}; see strata --help", error.what()));
  }

  if (*doctor) return doctor_command();
  if (*list) return list_command(list_options);
  if (*run) {
    run_options.command.assign(argv, argv + argc);
    return run_command(run_options);
  }
  if (*bench) {
    bench_options.flags = bench->remaining();
    return bench_command(bench_options);
  }
  if (*worker) {
    const auto request = parse_device_request(worker_device);
    return probe ? answer_probe(request) : work(request);
  }
  for (auto* sub : analysis) {
    if (!*sub) continue;
    auto arguments = sub->remaining();
    arguments.insert(arguments.begin(), sub->get_name());
    return analysis_command(arguments);
  }
  return fail(ExitCode::usage, "no subcommand; see strata --help");
}

}  // namespace
}  // namespace strata

int main(int argc, char** argv) {
  using strata::ExitCode;
  try {
    return strata::command(argc, argv);
  } catch (const strata::UsageError& error) {
    return strata::fail(ExitCode::usage, error.what());
  } catch (const strata::DeviceUnavailable& error) {
    return strata::fail(ExitCode::no_device, error.what());
  } catch (const std::exception& error) {
    return strata::fail(ExitCode::failed, error.what());
  }
}
