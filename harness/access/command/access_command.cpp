// strata access: the memory requests of CUDA kernels, from their PTX, without a device.
#include "harness/access/command/access_count.hpp"
#include "harness/access/command/access_output.hpp"
#include "harness/access/command/access_record.hpp"
#include "harness/access/evaluate.hpp"
#include "harness/access/inputs.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/listing.hpp"
#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
#include "harness/base/yaml_tree.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/generation_option.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"
#include "harness/run/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace strata {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

struct AccessOptions {
  Names files;
  std::string kernel = ".";
  Names launches;
  Names generations;
  std::string format = "table";
  access::TableOptions table;
  std::optional<double> most;
  access::Tools tools;
  bool run = false;
  std::string device = "cuda:0";
  long long seconds = 60;
  std::uint64_t budget = access::EvaluateOptions{}.budget;
  std::string out;
  Names command;
};

/// Paths below the working folder become relative to it.
std::string from_here(const std::string& file) {
  std::error_code ignored;
  const std::string here = fs::current_path(ignored).string() + '/';
  const std::string plain = fs::path{file}.lexically_normal().string();
  return plain.starts_with(here) ? plain.substr(here.size()) : plain;
}

/// The state of counting.
struct CountingState {
  std::string chip;
  std::string absent;  ///< why nothing can be counted; empty if it can
  std::string mend;
  bool is_failed = false;  ///< some launch was not counted
};

/// A launch that is run on the host, and its results.
struct Evaluated {
  std::string file;
  access::Launch launch;
  access::Evaluation evaluation = {};
  double seconds = 0;
  std::string refusal = {};  ///< why a device must not run it; empty if it may
};

/// Counts what a device moves in these launches. Empty if counting is not possible: the analysis
/// goes on without it.
std::vector<access::CountedLaunch> count(const AccessOptions& options,
                                         std::span<const ptx::Module> modules,
                                         const std::vector<Evaluated>& launches,
                                         CountingState& counting) {
  if (!options.run) return {};
  std::vector<access::LaunchFile> files;
  files.reserve(launches.size());
  std::vector<access::CountedLaunch> all(launches.size());
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    all[i].failure = launches[i].refusal;
    if (!all[i].failure.empty()) continue;
    files.push_back({.module = launches[i].launch.module, .file = launches[i].file});
    places.push_back(i);
  }
  try {
    auto counted = access::count_launches(modules, files, options.device,
                                          std::chrono::seconds{options.seconds});
    for (std::size_t i = 0; i < counted.size(); ++i)
      all[places[i]] = std::move(counted[i]);
    return all;
  } catch (const CountersUnavailable& absence) {
    counting.absent = one_line(absence.what());
    counting.mend = one_line(absence.mend);
  } catch (const DeviceUnavailable& absence) {
    counting.absent = one_line(absence.what());
  }
  fmt::print(stderr, "strata: nothing was counted: {}{}{}\n", counting.absent,
             counting.mend.empty() ? "" : "; ", counting.mend);
  return {};
}

/// Prints what went wrong with a launch, and returns why it was not counted; empty if it was.
std::string not_counted(const std::string& file, const access::CountedLaunch* counted,
                        const CountingState& counting, bool runs) {
  if (!runs) return "not counted: --run was not given";
  if (counted == nullptr) return "not counted: " + counting.absent;
  for (const auto& buffer : counted->overrun)
    fmt::print(stderr, "strata: {}: the kernel wrote outside {}\n", file, in_quotes(buffer));
  if (counted->failure.empty()) return {};
  std::string why = "not counted: " + one_line(counted->failure);
  fmt::print(stderr, "strata: {}: {}\n", file, why);
  return why;
}

/// Counts launches again of which some access was counted otherwise than predicted. A number that
/// is another one then is no property of the launch, and is not compared.
void count_again(const AccessOptions& options, std::span<const ptx::Module> modules,
                 const std::vector<Evaluated>& launches, std::size_t generation,
                 CountingState& counting, std::vector<access::CountedLaunch>& counted) {
  std::vector<Evaluated> again;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (!counted[i].failure.empty() ||
        !access::differs(launches[i].evaluation, counted[i], generation))
      continue;
    again.push_back({.file = launches[i].file, .launch = launches[i].launch});
    places.push_back(i);
  }
  if (again.empty()) return;
  const auto recounted = count(options, modules, again, counting);
  for (std::size_t i = 0; i < recounted.size(); ++i)
    access::keep_what_repeats(counted[places[i]], recounted[i]);
}

/// Where each selected kernel is in the report, by module and number.
using Places = std::map<std::pair<std::size_t, std::uint32_t>, std::size_t>;

/// Adds the selected kernels and what is proved about them.
Places add_kernels(const AccessOptions& options, std::span<const std::string> names,
                   std::span<const ptx::Module> modules, access::Report& report) {
  const auto wanted = matcher("--kernel", options.kernel);
  Places places;
  Names all;
  for (std::size_t m = 0; m < modules.size(); ++m) {
    const ptx::Module& module = modules[m];
    for (std::uint32_t k = 0; k < module.kernels.size(); ++k) {
      const ptx::Kernel& kernel = module.kernels[k];
      if (!kernel.defined) continue;
      const std::string name = access::readable(kernel.name);
      all.push_back(name);
      if (!wanted(name) && !wanted(std::string{kernel.name})) continue;
      places[{m, k}] = report.kernels.size();
      access::KernelReport made{.input = names[m],
                                .target = std::string{module.target},
                                .name = name,
                                .symbol = std::string{kernel.name}};
      for (auto& row : access::list_accesses(module, k)) {
        for (auto& one : row.places)
          one.file = from_here(one.file);
        made.rows.push_back({.row = std::move(row)});
      }
      report.kernels.push_back(std::move(made));
    }
  }
  if (report.kernels.empty() && !all.empty()) {
    refuse({"--kernel"}, "no kernel matches " + in_quotes(options.kernel),
           "a regular expression that matches a name",
           did_you_mean(options.kernel, all, "omit it for all kernels"));
  }
  return places;
}

/// The launches of selected kernels, by module, because a worker reads each one once.
std::vector<Evaluated> launches_of(const AccessOptions& options, std::span<const std::string> names,
                                   std::span<const ptx::Module> modules, const Places& places) {
  std::vector<Evaluated> launches;
  for (const auto& file : options.launches) {
    access::Launch launch = access::read_launch(file, modules, names);
    if (!places.contains({launch.module, launch.kernel})) continue;
    const auto lost = access::lost_pointers(modules[launch.module], launch);
    launches.push_back({.file = file, .launch = std::move(launch)});
    if (lost.empty()) continue;
    launches.back().refusal = fmt::format(
        "it loads addresses from {}, whose content was not captured: capture with more "
        "--megabytes",
        joined(lost));
  }
  std::ranges::stable_sort(launches, {}, [](const Evaluated& one) { return one.launch.module; });
  return launches;
}

/// The report of a launch; `counted` becomes null if it was not counted.
access::ReportedLaunch reported_launch(const Evaluated& one, const access::CountedLaunch*& counted,
                                       CountingState& counting, bool runs) {
  access::ReportedLaunch reported{.file = one.file, .seconds = one.seconds};
  reported.not_counted = not_counted(one.file, counted, counting, runs);
  if (counted != nullptr) {
    reported.optimised = counted->optimised;
    if (!counted->chip.empty()) counting.chip = counted->chip;
  }
  if (!reported.not_counted.empty()) {
    counting.is_failed = counting.is_failed || counted != nullptr;
    counted = nullptr;
  }
  return reported;
}

/// The selected kernels, what is proved about them, and their launches.
access::Report report_of(const AccessOptions& options, std::span<const std::string> names,
                         std::span<const ptx::Module> modules, CountingState& counting) {
  access::Report report;
  for (const auto& name : chosen_generations(options.generations, {"7.x"}))
    report.generations.push_back(*generation_from(name));
  if (options.most) report.most = *options.most;
  const Places places = add_kernels(options, names, modules, report);
  std::vector<Evaluated> launches = launches_of(options, names, modules, places);
  auto counted = count(options, modules, launches, counting);
  for (auto& one : launches) {
    const auto begin = std::chrono::steady_clock::now();
    const auto progress = [&](std::uint64_t instructions) {
      fmt::print(stderr, "strata: {}: {:.2f} of at most {:.2f} × 10⁹ warp instructions\n", one.file,
                 static_cast<double>(instructions) / 1e9,
                 static_cast<double>(options.budget) / 1e9);
    };
    one.evaluation = evaluate(
        modules[one.launch.module], one.launch,
        {.generations = report.generations, .budget = options.budget, .progress = progress});
    one.seconds = std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count();
  }
  // What ptxas merges of each kernel, until a tool is missing.
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<access::MergedAccess>> known;
  const auto merged = [&](const std::pair<std::size_t, std::uint32_t>& kernel) {
    const auto [found, is_new] = known.try_emplace(kernel);
    if (!is_new || !report.no_machine_code.empty()) return found->second;
    try {
      found->second = access::merged_by_ptxas(modules[kernel.first], kernel.second, options.tools);
    } catch (const UsageError& missing) {
      report.no_machine_code = missing.what();
    }
    return found->second;
  };
  count_again(options, modules, launches, access::newest_of(report), counting, counted);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Evaluated& one = launches[i];
    const access::CountedLaunch* of_launch = i < counted.size() ? &counted[i] : nullptr;
    access::ReportedLaunch reported = reported_launch(one, of_launch, counting, options.run);
    add_launch(report.kernels[places.at({one.launch.module, one.launch.kernel})],
               modules[one.launch.module].kernels[one.launch.kernel], one.launch,
               std::move(reported), one.evaluation, of_launch);
    add_merged(report.kernels[places.at({one.launch.module, one.launch.kernel})],
               modules[one.launch.module], one.launch,
               merged({one.launch.module, one.launch.kernel}), {.budget = options.budget});
  }
  return report;
}

/// The device that counted; otherwise the host, which evaluated.
DeviceMessage recorded_device(const AccessOptions& options) {
  const auto probe_device = [](const std::string& device) {
    return probe({.arguments = {"strata", "worker", "--device", device, "--probe"}});
  };
  try {
    if (options.run) return probe_device(options.device);
  } catch (const DeviceUnavailable&) {
    // count() has printed why.
  }
  return probe_device("host");
}

/// The launch files, one after the other.
std::string text_of(const Names& launches) {
  std::string text;
  for (const auto& file : launches)
    text += fmt::format("--- # {}\n{}", one_line(file), read_yaml_file(file, "launch"));
  return text;
}

/// Writes the run folder. Returns a line about it.
std::string record(const AccessOptions& options, const access::Report& report,
                   const CountingState& counting) {
  const DeviceMessage device = recorded_device(options);
  const auto records = access::records_of(report, device.backend);
  if (records.empty()) {
    refuse({"--out"}, "these launches have no accesses", "a launch of a selected kernel",
           "check --kernel and --launch");
  }
  SweepInfo sweep{.name = "access",
                  .file = one_line(fmt::format("{}", fmt::join(options.files, " "))),
                  .text = text_of(options.launches)};
  for (const auto& one : records) {
    if (one.phase == Phase::timing) sweep.cases.push_back(one.which.id());
  }
  CountersInfo counters{.requested = {"none"}};
  if (options.run) {
    counters.requested = {"access"};
    counters.state =
        counting.chip.empty() ? CountersInfo::State::unavailable : CountersInfo::State::counted;
    counters.reason = counting.chip.empty() && counting.absent.empty() ? "no launch was counted"
                                                                       : counting.absent;
    counters.mend = counting.mend;
    if (!counting.chip.empty()) {
      counters.plan = {.chip = counting.chip,
                       .sets = {},
                       .quantities = access::counted_quantities(),
                       .absent = {},
                       .passes = 2};
    }
  }
  RunFolder folder = RunFolder::create(
      options.out, {.strata = build_info(),
                    .command = options.command,
                    .backend = device.backend,
                    .device = device.identity,
                    .host = device.host,
                    .sweep = std::move(sweep),
                    .counters = std::move(counters),
                    .clocks_before = device.conditions,
                    .timer = device.timer,
                    .declarations = describe_benchmarks(access::declarations_of(records))});
  for (const auto& one : records)
    folder.append(one);
  const RunCounts counts = folder.finish(RunState::complete, {});
  return fmt::format("{} accesses predicted, {} counted, {} skipped; {} of {} rows valid, in {}",
                     counts.measured, counts.counted, counts.skipped, counts.valid_rows,
                     counts.valid_rows + counts.invalid_rows, folder.path().string());
}

/// Checks what --out requires.
void check_out(const AccessOptions& options) {
  if (options.out.empty()) return;
  if (options.launches.empty()) {
    refuse({"--out"}, "no launch", "a launch to record", "give --launch FILE.yaml");
  }
  const auto names = chosen_generations(options.generations, {"7.x"});
  if (std::ranges::none_of(
          names, [](const auto& name) { return generation_from(name) == Generation::cc7; })) {
    refuse({"--out"}, "the rules of 7.x are missing", "the rules of devices that can count",
           "add 7.x to --generation");
  }
}

ExitCode run(const AccessOptions& options) {
  if (options.most && !(*options.most > 0)) {
    refuse({"--most"}, fmt::format("{} is out of range", *options.most), "a number above 0",
           "use 2, for example");
  }
  check_out(options);
  Names names;
  std::vector<ptx::Module> modules;
  for (const auto& file : options.files) {
    for (auto& input : access::read_inputs(file, options.tools)) {
      names.push_back(std::move(input.name));
      modules.push_back(std::move(input.module));
    }
  }
  CountingState counting;
  const access::Report report = report_of(options, names, modules, counting);
  const std::string text = options.format == "csv"     ? csv_of(report)
                           : options.format == "json"  ? json_of(report)
                           : options.format == "sarif" ? sarif_of(report, build_info().version)
                                                       : table_of(report, options.table);
  fmt::print("{}", text);
  const auto is_over = [&](const access::ReportRow& row) {
    const auto moved = row.moved_over_ideal();
    return moved && *moved > report.most;
  };
  const bool some_are_over = std::ranges::any_of(report.kernels, [&](const auto& kernel) {
    return std::ranges::any_of(kernel.rows, is_over);
  });
  if (!options.out.empty()) {
    fmt::print(stderr, "strata: {}\n", one_line(record(options, report, counting)));
  }
  return counting.is_failed || (options.most && some_are_over) ? ExitCode::failed
                                                               : ExitCode::success;
}

}  // namespace

void add_access(Command app, int& status, const std::vector<std::string>& command) {
  const auto options = std::make_shared<AccessOptions>();
  options->command = command;
  auto sub = app.subcommand(
      "access", "analyse the memory accesses of a CUDA kernel, line by line; needs no GPU");
  sub.option("FILES", options->files, "PTX files, CUDA sources, or binaries that contain PTX");
  sub.option("--kernel", options->kernel, "only kernels whose name matches", "RE");
  sub.option("--launch", options->launches, "evaluate the warps of this launch; repeatable",
             "FILE.yaml");
  sub.option("--budget", options->budget,
             "warp instructions that a launch runs on the host; of a launch with more, some blocks "
             "are sampled",
             "N")
      .shows_default();
  sub.option("--generation", options->generations,
             "evaluate launches by the rules of these GPU generations, such as 7.x or 3.5 (default "
             "7.x)",
             "NAMES")
      .separated_by(',');
  sub.option("--format", options->format, "output format")
      .one_of({"table", "csv", "json", "sarif"});
  sub.flag("--all", options->table.shows_all, "all accesses, not only the ten most wasteful");
  sub.flag("--proof", options->table.shows_proof,
           "what holds for any launch of the kernel, with its premises");
  sub.option("--most", options->most,
             "exit with status 1 if an access moves more than TIMES what its bytes need", "TIMES");
  sub.flag("--run", options->run, "run each launch on a GPU and count what each instruction moves")
      .needs("--launch");
  sub.option("--device", options->device, "device for --run", "cuda:N");
  sub.option("--seconds", options->seconds, "time limit of a launch with --run", "SECONDS")
      .range(1, 3600)
      .shows_default();
  sub.option("--out", options->out,
             "write a run folder in DIR, for strata report and strata compare", "DIR");
  add_compiler_options(sub, options->tools);
  sub.footer(
      "Without --launch, each address is followed symbolically, and the results hold for every "
      "launch.\nWith --launch, the warps of the launch are evaluated on the host.\nExit status: 0; "
      "1 an access exceeds --most, or a kernel fails with --run; 2 bad input.\nExamples: strata "
      "access kernel.cu --flag=-std=c++20\n          strata access kernel.ptx --launch launch.yaml "
      "--format sarif --most 2");
  add_access_capture(sub, status);
  add_access_optimize(sub, status);
  sub.on_run([sub, options, &status] {
    if (sub.runs_subcommand()) return;
    if (options->files.empty()) {
      refuse({"FILES"}, "none", "PTX files, CUDA sources, or binaries that contain PTX",
             "see strata access --help");
    }
    status = static_cast<int>(run(*options));
  });
}

}  // namespace strata
