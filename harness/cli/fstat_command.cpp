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

/// "45 sky points × 9 cells × 84 stacks × 161 frequencies, 7602 signals of 2 detectors, seed 2008".
std::string summary(const ObservationData& data) {
  const auto& [sky, cells, stacks, frequencies, detectors, seed] = data.seen.problem;
  return fmt::format(
      "{} sky points × {} cells × {} stacks × {} frequencies, {} signals of {} detectors, seed {}, "
      "{}",
      sky, cells, stacks, frequencies, data.seen.signals(), detectors, seed,
      data.results ? fmt::format("{} results", data.results->two_f.size()) : "without results");
}

void compare_headers(Differences& found, const ObservationData& data,
                     const ObservationData& other_data) {
  const Observation& one = data.seen;
  const Observation& other = other_data.seen;
  found.between("sky points", one.problem.sky, other.problem.sky);
  found.between("cells", one.problem.cells, other.problem.cells);
  found.between("stacks", one.problem.stacks, other.problem.stacks);
  found.between("frequencies", one.problem.frequencies, other.problem.frequencies);
  found.between("detectors", one.problem.detectors, other.problem.detectors);
  found.between("signals", one.signals(), other.signals());
  found.between("seed", one.problem.seed, other.problem.seed);
  if (one.grid != other.grid) found.note("grid");
  if (found.none() && one != other) found.note("spectra, timings or antennas");
}

bool agree(const ObservationData& data, const ObservationData& other,
           std::optional<double> tolerance) {
  const double bound = tolerance.value_or(fstat::rms_bound(data.seen, false));
  bool all = true;
  for (const Accuracy& one : fstat::accuracy_of(*other.results, *data.results, bound)) {
    const Gate gate = accuracy_gate(one);
    print_note("result", gate.detail);
    all = all && gate.verdict == Verdict::passed;
  }
  return all;
}

}  // namespace

void add_fstat(Command app, int& status) {
  const auto problem = std::make_shared<fstat::Problem>();
  (void)add_dataset<ObservationData>(
      app, status,
      {.name = "fstat",
       .about = "the F-statistic of spectra: generate, sum and compare files of observations",
       .what = "observations",
       .reference = "compute Fa, Fb and 2F of all templates of a file, in double precision",
       .tolerance = "largest root mean square error of Fa and Fb, relative to themselves; of 2F "
                    "four times as much (default: 2^-24 (8 + √16 + √signals))",
       .generate =
           [problem] {
             return ObservationData{.seen = fstat::generate(*problem), .results = std::nullopt};
           },
       .check = [problem] { fstat::check("strata fstat generate", *problem); },
       .compute =
           [](ObservationData data, std::uint32_t /*steps*/) {
             data.results = fstat::reference_of(data.seen);
             return data;
           },
       .read = fstat::read_observation,
       .write = fstat::write_observation,
       .summary = summary,
       .compare_headers = compare_headers,
       .check_results =
           [](const std::string& file, const ObservationData& data) {
             if (data.results) return;
             refuse({file}, "has no results", "a file with the results of all templates",
                    "compute them with strata fstat reference");
           },
       .agree = agree},
      [&](Command& sub) {
        sub.option("--sky", problem->sky, "sky points").shows_default();
        sub.option("--cells", problem->cells,
                   "cells of a sky point, each with a spin-down of its own")
            .shows_default();
        sub.option("--stacks", problem->stacks, "stacks, a day of data each").shows_default();
        sub.option("--frequencies", problem->frequencies, "frequencies of a stack").shows_default();
        sub.option("--detectors", problem->detectors,
                   "detectors, with 40 to 50 signals each in a stack")
            .shows_default();
        sub.option("--seed", problem->seed,
                   "seed of the generator: the same seed gives the same observation")
            .is_seed()
            .shows_default();
      });
}

}  // namespace strata
