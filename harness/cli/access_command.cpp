// strata access: what the addresses of CUDA kernels ask of memory, from their PTX, without a
// device.
#include "harness/access/evaluate.hpp"
#include "harness/access/inputs.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/listing.hpp"
#include "harness/case/error.hpp"
#include "harness/case/text.hpp"
#include "harness/cli/access_output.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/generation_option.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
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
  std::optional<double> most;
  access::Tools tools;
  bool run = false;
  std::string device = "cuda:0";
  long long seconds = 60;
};

/// Paths below the working folder are told from there.
std::string from_here(const std::string& file) {
  std::error_code ignored;
  const std::string here = fs::current_path(ignored).string() + '/';
  const std::string plain = fs::path{file}.lexically_normal().string();
  return plain.starts_with(here) ? plain.substr(here.size()) : plain;
}

/// What a device moves in these launches of a module; nothing where it cannot be had: the rest
/// stands without.
std::vector<access::CountedLaunch> count(const AccessOptions& options, const ptx::Module& module,
                                         const Names& files) {
  if (!options.run || files.empty()) return {};
  std::string why;
  try {
    return access::count_launches(module, files, options.device,
                                  std::chrono::seconds{options.seconds});
  } catch (const CountersUnavailable& absence) {
    why = fmt::format("{}{}{}", absence.what(), absence.mend.empty() ? "" : "; ", absence.mend);
  } catch (const DeviceUnavailable& absence) {
    why = absence.what();
  }
  fmt::print(stderr, "strata: nothing is counted: {}\n", one_line(why));
  return {};
}

/// Says what went wrong with a launch. False where it was not counted.
bool tell(const std::string& file, const access::CountedLaunch& counted) {
  for (const auto& buffer : counted.overrun)
    fmt::print(stderr, "strata: {}: the kernel wrote around {}\n", file, in_quotes(buffer));
  if (counted.failure.empty()) return true;
  fmt::print(stderr, "strata: {}: not counted: {}\n", file, one_line(counted.failure));
  return false;
}

/// The kernels that were asked for, with what is proved of them.
access::Report report_of(const AccessOptions& options, std::span<const std::string> names,
                         std::span<const ptx::Module> modules, bool& is_failed) {
  access::Report report;
  for (const auto& name : chosen_generations(options.generations, {"7.x"}))
    report.generations.push_back(*generation_from(name));
  if (options.most) report.most = *options.most;
  const auto wanted = matcher("--kernel", options.kernel);
  std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> place;
  Names all;
  for (std::size_t m = 0; m < modules.size(); ++m) {
    const ptx::Module& module = modules[m];
    for (std::uint32_t k = 0; k < module.kernels.size(); ++k) {
      const ptx::Kernel& kernel = module.kernels[k];
      if (!kernel.defined) continue;
      const std::string name = access::readable(kernel.name);
      all.push_back(name);
      if (!wanted(name) && !wanted(std::string{kernel.name})) continue;
      place[{m, k}] = report.kernels.size();
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
           "an expression that some name matches",
           did_you_mean(options.kernel, all, "leave it out for all"));
  }
  for (std::size_t m = 0; m < modules.size(); ++m) {
    Names files;
    std::vector<access::Launch> launches;
    for (const auto& file : options.launches) {
      access::Launch launch = access::read_launch(file, modules);
      if (launch.module != m || !place.contains({m, launch.kernel})) continue;
      files.push_back(file);
      launches.push_back(std::move(launch));
    }
    const auto counted = count(options, modules[m], files);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const bool has_counts = i < counted.size() && tell(files[i], counted[i]);
      if (i < counted.size() && !has_counts) is_failed = true;
      const std::uint32_t kernel = launches[i].kernel;
      add_launch(report.kernels[place.at({m, kernel})], modules[m].kernels[kernel], files[i],
                 evaluate(modules[m], launches[i], {.generations = report.generations}),
                 has_counts ? &counted[i] : nullptr);
    }
  }
  return report;
}

ExitCode run(const AccessOptions& options) {
  if (options.most && !(*options.most > 0)) {
    refuse({"--most"}, fmt::format("{} is out of range", *options.most), "a number above 0",
           "give 2, say");
  }
  Names names;
  std::vector<ptx::Module> modules;
  for (const auto& file : options.files) {
    for (auto& input : access::read_inputs(file, options.tools)) {
      names.push_back(std::move(input.name));
      modules.push_back(std::move(input.module));
    }
  }
  bool is_failed = false;
  const access::Report report = report_of(options, names, modules, is_failed);
  const std::string text = options.format == "csv"     ? csv_of(report)
                           : options.format == "json"  ? json_of(report)
                           : options.format == "sarif" ? sarif_of(report, build_info().version)
                                                       : table_of(report);
  fmt::print("{}", text);
  const auto is_over = [&](const access::ReportRow& row) {
    const auto moved = row.moved_over_ideal();
    return moved && *moved > report.most;
  };
  const bool some_are_over = std::ranges::any_of(report.kernels, [&](const auto& kernel) {
    return std::ranges::any_of(kernel.rows, is_over);
  });
  return is_failed || (options.most && some_are_over) ? ExitCode::failed : ExitCode::success;
}

}  // namespace

void add_access(CLI::App& app, int& status) {
  const auto options = std::make_shared<AccessOptions>();
  auto* sub = app.add_subcommand(
      "access", "say what each line of a CUDA kernel asks of memory; needs no device");
  sub->add_option("FILES", options->files, "PTX, CUDA sources, or binaries that hold PTX")
      ->required();
  option(sub, "--kernel", options->kernel, "only kernels whose name matches", "RE");
  option(sub, "--launch", options->launches,
         "count every warp of this launch; may be given several times", "FILE.yaml");
  option(sub, "--generation", options->generations,
         "count by the rules of these generations, such as 7.x or 3.5 (default 7.x)", "NAMES")
      ->delimiter(',');
  option(sub, "--format", options->format, "output format")
      ->check(CLI::IsMember({"table", "csv", "json", "sarif"}));
  option(sub, "--most", options->most,
         "exit with 1 where an access moves more than so many times what its bytes need", "TIMES");
  sub->add_flag("--run", options->run,
                "run each launch once on a device, and set what each instruction moved beside it")
      ->needs("--launch");
  option(sub, "--device", options->device, "the device of --run", "cuda:N");
  option(sub, "--seconds", options->seconds, "how long a launch of --run may take", "SECONDS")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  option(sub, "--compiler", options->tools.compiler,
         "what compiles CUDA sources (default nvcc, else clang++)", "NAME");
  option(sub, "--flag", options->tools.flags, "passed on to the compiler; as --flag=-Iinclude",
         "FLAG");
  option(sub, "--arch", options->tools.architecture, "what it compiles for, such as sm_90",
         "TARGET");
  sub->footer(
      "Without --launch each address is followed as a sum of indices and parameters, and what is "
      "said\n"
      "of it holds for every launch. With it, every warp of the launch is run on the host.\n"
      "Exit status: 0; 1 with --most, where some access moves more, and with --run, where a "
      "kernel\n"
      "fails; 2 bad input.\n"
      "Examples: strata access kernel.cu --flag=-std=c++20\n"
      "          strata access kernel.ptx --launch launch.yaml --format sarif --most 2");
  sub->callback([options, &status] { status = static_cast<int>(run(*options)); });
}

}  // namespace strata
