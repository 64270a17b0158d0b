// strata fstat: files of observations and of their F-statistic, with no device.
#include "harness/base/error.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/dataset_command.hpp"
#include "harness/record/gates.hpp"
#include "nbody/fstat/reference/observation_file.hpp"
#include "nbody/fstat/verification.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace strata {
namespace {

using fstat::Observation;
using fstat::ObservationData;

struct FstatOptions {
  fstat::Problem problem;
  std::string file;
  std::string other;  ///< what the file is compared with, or where the result goes
  std::optional<double> tolerance;
  bool overwrite = false;
};

/// "45 sky points × 9 cells × 84 stacks × 161 frequencies, 7602 signals of 2 detectors, seed 2008".
std::string summary(const ObservationData& data) {
  const auto& [sky, cells, stacks, frequencies, detectors, seed] = data.seen.problem;
  return fmt::format(
      "{} sky points × {} cells × {} stacks × {} frequencies, {} signals of {} detectors, seed {}, "
      "{}",
      sky, cells, stacks, frequencies, data.seen.signals(), detectors, seed,
      data.results ? fmt::format("{} results", data.results->two_f.size()) : "without results");
}

void write(const FstatOptions& options, const std::string& file,
           const std::function<ObservationData()>& make) {
  write_new(file, options.overwrite, make, fstat::write_observation,
            [](const ObservationData& data) { return summary(data); });
}

void generate(const FstatOptions& options) {
  fstat::check("strata fstat generate", options.problem);
  write(options, options.file, [&] {
    return ObservationData{.seen = fstat::generate(options.problem), .results = std::nullopt};
  });
}

void reference(const FstatOptions& options) {
  ObservationData data = fstat::read_observation(options.file);
  write(options, options.other, [&] {
    data.results = fstat::reference_of(data.seen);
    return std::move(data);
  });
}

/// The differences in header and data: such files hold different observations.
std::string differences(const Observation& one, const Observation& other) {
  Differences found;
  found.between("sky points", one.problem.sky, other.problem.sky);
  found.between("cells", one.problem.cells, other.problem.cells);
  found.between("stacks", one.problem.stacks, other.problem.stacks);
  found.between("frequencies", one.problem.frequencies, other.problem.frequencies);
  found.between("detectors", one.problem.detectors, other.problem.detectors);
  found.between("signals", one.signals(), other.signals());
  found.between("seed", one.problem.seed, other.problem.seed);
  if (one.grid != other.grid) found.note("grid");
  if (found.none() && one != other) found.note("spectra, timings or antennas");
  return found.text();
}

ExitCode verify(const FstatOptions& options) {
  if (options.tolerance && (!std::isfinite(*options.tolerance) || *options.tolerance < 0)) {
    refuse({"--tolerance"}, fmt::format("{} is out of range", *options.tolerance),
           "a finite number from 0 on", "give another number");
  }
  const ObservationData data = fstat::read_observation(options.file);
  const ObservationData other = fstat::read_observation(options.other);
  for (const auto& [file, of] : {std::pair{&options.file, &data}, {&options.other, &other}}) {
    if (of->results) continue;
    refuse({*file}, "has no results", "a file with the results of all templates",
           "compute them with strata fstat reference");
  }
  if (const std::string different = differences(data.seen, other.seen); !different.empty()) {
    print_note("header", "not of one dataset: they differ in " + different);
    return ExitCode::failed;
  }
  print_note("header", "the same: " + summary(other));
  const double bound = options.tolerance.value_or(fstat::rms_bound(data.seen, false));
  bool all = true;
  for (const Accuracy& one : fstat::accuracy_of(*other.results, *data.results, bound)) {
    const Gate gate = accuracy_gate(one);
    print_note("result", gate.detail);
    all = all && gate.verdict == Verdict::passed;
  }
  return all ? ExitCode::success : ExitCode::failed;
}

}  // namespace

void add_fstat(Command app, int& status) {
  const auto options = std::make_shared<FstatOptions>();
  auto group = app.subcommand(
      "fstat", "the F-statistic of spectra: generate, sum and compare files of observations");
  group.require_subcommand();
  const auto add_overwrite = [&](Command sub) {
    sub.flag("--overwrite", options->overwrite, "replace an existing file");
  };

  auto sub =
      group.subcommand("generate", "generate an observation from a seed and write it to a file");
  fstat::Problem& problem = options->problem;
  sub.option("--sky", problem.sky, "sky points").shows_default();
  sub.option("--cells", problem.cells, "cells of a sky point, each with a spin-down of its own")
      .shows_default();
  sub.option("--stacks", problem.stacks, "stacks, a day of data each").shows_default();
  sub.option("--frequencies", problem.frequencies, "frequencies of a stack").shows_default();
  sub.option("--detectors", problem.detectors, "detectors, with 40 to 50 signals each in a stack")
      .shows_default();
  sub.option("--seed", problem.seed,
             "seed of the generator: the same seed gives the same observation")
      .is_seed()
      .shows_default();
  sub.option("file", options->file, "file to write", "FILE").required();
  add_overwrite(sub);
  sub.on_run([options] { generate(*options); });

  sub = group.subcommand("reference",
                         "compute Fa, Fb and 2F of all templates of a file, in double precision");
  sub.option("file", options->file, "file of an observation", "FILE").required();
  sub.option("out", options->other, "file to write", "OUT").required();
  add_overwrite(sub);
  sub.on_run([options] { reference(*options); });

  sub = group.subcommand("verify",
                         "compare the results of two files of one observation: Fa, Fb and 2F; "
                         "exit status 1 if they differ");
  sub.option("file", options->file, "file of an observation", "FILE").required();
  sub.option("reference", options->other, "file of the expected results", "REFERENCE").required();
  sub.option(
      "--tolerance", options->tolerance,
      "largest root mean square error of Fa and Fb, relative to themselves; of 2F four times as "
      "much (default: 2^-24 (8 + √16 + √signals))");
  sub.on_run([options, &status] { status = static_cast<int>(verify(*options)); });
}

}  // namespace strata
