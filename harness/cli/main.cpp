// The command line of strata. The other files of this folder implement the subcommands.
#include "harness/case/error.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"
#include "harness/record/device.hpp"
#include "harness/run/worker.hpp"

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
  // Not fmt::print, which throws when stderr is closed.
  (void)std::fputs(fmt::format("strata: {}\n", what).c_str(), stderr);
  return static_cast<int>(code);
}

/// The flags of `strata nbody`.
CLI::App* add_nbody(CLI::App& app, NbodyOptions& options) {
  auto* group = app.add_subcommand(
      "nbody", "the n-body ladder: list its rungs; generate, move and compare files of bodies");
  group->require_subcommand(1);

  auto* generate =
      group->add_subcommand("generate", "generate bodies from a seed and write them to a file");
  generate->add_option("--problem", options.problem, "galaxies, single or gravit")
      ->type_name("NAME")
      ->capture_default_str();
  generate->add_option("--systems", options.systems,
                       "number of independent systems (galaxies: 32)");
  generate->add_option("--bodies", options.bodies,
                       "bodies of each system (galaxies: 4096, single: 65536, gravit: 40000)");
  generate
      ->add_option("--seed", options.seed,
                   "seed of the generator: the same seed gives the same bodies")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  generate->add_option("file", options.file, "file to write")->type_name("FILE")->required();

  auto* reference =
      group->add_subcommand("reference", "integrate the bodies of a file in double precision");
  reference->add_option("file", options.file, "file of bodies")->type_name("FILE")->required();
  reference->add_option("out", options.other, "file to write")->type_name("OUT")->required();
  reference->add_option("--steps", options.steps, "number of time steps")->required();
  for (auto* writes : {generate, reference})
    writes->add_flag("--overwrite", options.overwrite, "replace an existing file");

  auto* verify = group->add_subcommand(
      "verify",
      "compare two files of bodies: header, positions, velocities; exit status 1 if they differ");
  verify->add_option("file", options.file, "file of bodies")->type_name("FILE")->required();
  verify->add_option("reference", options.other, "file of the expected bodies")
      ->type_name("REFERENCE")
      ->required();
  verify
      ->add_option(
          "--tolerance", options.tolerance,
          "largest distance of a body from its reference, relative to the root mean square "
          "of all reference positions (or velocities)")
      ->capture_default_str();

  auto* trimmed = group->add_subcommand(
      "trimmed-mean",
      "mean of a list of numbers without its two highest and lowest, and the median");
  trimmed->add_option("file", options.file, "one number a line; default: standard input")
      ->type_name("FILE");

  group->add_subcommand("ladder", "list every rung: its change, its source, the expected gain");
  return group;
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

  auto* doctor = app.add_subcommand("doctor", "what can be measured here, and what is missing");

  ListOptions list_options;
  auto* list = app.add_subcommand("list", "list the benchmarks: question, axes, quantities, cost");
  list->add_option("--cases", list_options.cases, "list the case ids of this sweep instead")
      ->type_name("SWEEP");
  list->add_option("--backend", list_options.backend, "backend of those cases")
      ->check(CLI::IsMember({"cuda", "host"}))
      ->capture_default_str();

  RunOptions run_options;
  auto* run = app.add_subcommand(
      "run", "measure a sweep in isolated workers; an interrupted run can be resumed");
  run->add_option("sweep", run_options.sweep, "sweep file, or one of: quick, default, full")
      ->type_name("SWEEP")
      ->capture_default_str();
  run->add_option("--device", run_options.device, "auto, cuda:N or host")->capture_default_str();
  run->add_option("--filter", run_options.filter, "measure only the cases whose id matches")
      ->type_name("RE");
  run->add_option("--set", run_options.settings,
                  "replace an axis or a plan value: layout_read.layout=aos,soa, plan.max_samples=9")
      ->type_name("NAME.KEY=VALUE")
      ->allow_extra_args(false);
  run->add_option("--out", run_options.out, "folder in which the run folder is created")
      ->type_name("DIR")
      ->capture_default_str();
  run->add_option("--resume", run_options.resume, "complete this run folder")->type_name("RUN");
  run->add_option(
         "--counters", run_options.counters,
         "what to count after the timing: auto, none, or a comma-separated list of counter sets, "
         "files of sets and raw metrics")
      ->type_name("LIST")
      ->allow_extra_args(false);
  run->add_flag("--dry-run", run_options.dry_run, "print the cases and their estimated cost");
  run->add_flag("--quiet", run_options.quiet, "show no progress");

  BenchOptions bench_options;
  auto* bench = app.add_subcommand(
      "bench", "run the same cases as a Google Benchmark program: every --benchmark_* flag works");
  bench->allow_extras();
  bench->add_option("--sweep", bench_options.sweep, "sweep that names the cases")
      ->capture_default_str();
  bench->add_option("--device", bench_options.device, "auto, cuda:N or host")
      ->capture_default_str();
  bench->add_option("--set", bench_options.settings, "as for run")
      ->type_name("NAME.KEY=VALUE")
      ->allow_extra_args(false);
  bench
      ->add_option(
          "--counters", bench_options.counters,
          "count the cases instead of timing them: as for run, or external: run the work for "
          "an outside profiler (ncu --nvtx --nvtx-include counted/)")
      ->type_name("LIST")
      ->allow_extra_args(false);

  CountersOptions counters_options;
  auto* counters = app.add_subcommand(
      "counters", "list what a chip can count: sets, metrics, passes; needs no GPU with --chip");
  counters
      ->add_option("wanted", counters_options.wanted,
                   "counter sets, files of sets or metrics; default: every set")
      ->type_name("SET|FILE|METRIC");
  auto* chip = counters->add_option("--chip", counters_options.chip, "chip to describe: GH100, …")
                   ->type_name("NAME");
  auto* of_device =
      counters
          ->add_option("--device", counters_options.device, "device to describe: auto or cuda:N")
          ->capture_default_str()
          ->excludes(chip);
  auto* all_chips = counters->add_flag("--all-chips", counters_options.all_chips,
                                       "describe every chip that CUPTI knows");
  all_chips->excludes(chip)->excludes(of_device);
  counters->add_option("--format", counters_options.format, "output format")
      ->check(CLI::IsMember({"table", "csv", "json", "markdown"}))
      ->capture_default_str();
  counters
      ->add_option("--metrics", counters_options.metrics,
                   "list instead the metrics of the chip whose names match")
      ->type_name("RE")
      ->excludes(all_chips);

  ModelOptions model_options;
  auto* model = app.add_subcommand(
      "model", "predict the traffic of a warp's reads on each GPU generation; needs no device");
  model->add_option("--layout", model_options.layouts, "only these particle layouts")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  model->add_option("--fields", model_options.fields, "only these field sets")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  model
      ->add_option("--generation", model_options.generations,
                   "only these generations: names, or compute capabilities such as 9.0")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  model
      ->add_option("--width", model_options.width,
                   "predict one load instead of layouts: bytes that each lane reads")
      ->type_name("BYTES");
  model
      ->add_option("--stride", model_options.stride,
                   "distance between neighbouring lanes, in elements (default 1)")
      ->type_name("ELEMENTS");
  model->add_option("--offset", model_options.offset, "first element (default 0)")
      ->type_name("ELEMENTS");
  model
      ->add_option("--permutation", model_options.permutation,
                   "order of the lanes: identity, reversed or random")
      ->type_name("ORDER");
  model->add_option("--format", model_options.format, "output format")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  model->footer(
      "The prediction applies the published rules of each compute capability to the addresses;\n"
      "the table cites them. Counts are for a warp that reads 32 particles, or for one load.\n"
      "Examples: strata model --generation 1.0-1.1,9.0 --fields all\n"
      "          strata model --width 4 --stride 2 --offset 1");

  NbodyOptions nbody_options;
  auto* nbody = add_nbody(app, nbody_options);

  const std::vector<std::pair<std::string, std::string>> forwarded{
      {"report", "figures, tables and one HTML page of a run"},
      {"roofline", "attained FLOP/s under the ceilings measured in the run"},
      {"compare", "what changed between runs; generations side by side"},
      {"summary", "the most important numbers of a run"},
      {"validate", "check a run folder against its schema"},
      {"export", "convert a run to Google Benchmark's JSON, Parquet or CSV"},
      {"import", "convert Google Benchmark's JSON or Nsight Compute's CSV to a run"}};
  std::vector<CLI::App*> analysis;
  for (const auto& [name, what] : forwarded) {
    auto* sub = app.add_subcommand(name, fmt::format("{} (python -m strata {})", what, name));
    sub->prefix_command();
    sub->set_help_flag();  // --help goes to the analysis package too
    analysis.push_back(sub);
  }

  std::string worker_device = "auto";
  std::vector<std::string> worker_counters;
  bool probe = false;
  bool count = false;
  bool by_benchmark = false;
  auto* worker = app.add_subcommand("worker", "")->group("");  // internal to `run`: hidden
  worker->add_option("--device", worker_device);
  worker->add_option("--counters", worker_counters)->allow_extra_args(false);
  worker->add_flag("--probe", probe);
  worker->add_flag("--count", count);
  worker->add_flag("--by-benchmark", by_benchmark);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(ExitCode::usage, fmt::format("{}; see strata --help", error.what()));
  }

  if (*doctor) return doctor_command();
  if (*list) return list_command(list_options);
  if (*model) return model_command(model_options);
  if (*counters) return counters_command(counters_options);
  if (*nbody) {
    return nbody_command(nbody->get_subcommands().front()->get_name(), nbody_options);
  }
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
    const CounterSelection selection{.wanted = worker_counters, .by_benchmark = by_benchmark};
    if (probe) return answer_probe(request, selection);
    return count ? count_cases(request, selection) : time_cases(request);
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
  } catch (const strata::CountersUnavailable& error) {
    const std::string mend = error.mend().empty() ? "" : "; " + error.mend();
    return strata::fail(ExitCode::no_device, error.what() + mend);
  } catch (const std::exception& error) {
    return strata::fail(ExitCode::failed, error.what());
  }
}
