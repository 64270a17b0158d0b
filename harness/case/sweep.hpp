#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/case.hpp"
#include "harness/case/plan.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {

/// One block of a sweep: a benchmark and the values of the axes that it names.
struct SweepEntry {
  std::string benchmark;
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;  ///< canonical values
};

/// A sweep as its file states it, checked against the benchmarks.
struct Sweep {
  std::string name;
  std::string file;  ///< as the user named it; for messages and context.json
  std::string text;  ///< of the file as it stands
  Plan plan;
  std::vector<SweepEntry> entries;
};

/// Most combinations of values that a sweep may ask for, before any is left out: at a tenth of a
/// second each, seven hours.
inline constexpr std::size_t max_sweep_points = 1 << 18;

/// Reads a sweep from YAML text. Throws UsageError "FILE:LINE: what was found; expected …; how to
/// mend it", one line, for bad UTF-8, a line or file over the limits, YAML errors, aliases, a
/// second document, unknown or duplicate keys, wrong types, empty axes, unknown or duplicate
/// values, numbers out of range. Every entry is checked; an axis value counts in its canonical form
/// only.
[[nodiscard]] Sweep parse_sweep(std::string_view text, const std::string& file,
                                std::span<const Enrolled> known);

/// Reads `name` as a file when there is one, else as one of the sweeps built into this executable
/// ("quick", "default", "full"). Throws UsageError naming what there is.
[[nodiscard]] Sweep load_sweep(const std::string& name, std::span<const Enrolled> known);

/// One `--set benchmark.axis=a,b`: replaces that axis in every entry of the benchmark. One `--set
/// plan.key=number`: replaces that number of the plan. Throws UsageError, leaving the sweep as it
/// was.
void apply_setting(Sweep& sweep, std::string_view setting, std::span<const Enrolled> known);

/// The canonical list of cases on `backend`: benchmarks by name, axes in declaration order, values
/// in canonical order, each case once, without combinations that a benchmark excludes or has no
/// body for. The same sweep gives the same list whatever the order of its file. Throws UsageError
/// for more than max_sweep_points combinations, std::invalid_argument for a sweep that parse_sweep
/// did not check against these benchmarks.
[[nodiscard]] std::vector<Case> expand(const Sweep& sweep, Backend backend,
                                       std::span<const Enrolled> known);

/// The counter sets that these benchmarks want beside `memory`, each once, sorted. A name that is
/// not among `known` wants nothing.
[[nodiscard]] std::vector<std::string> wanted_counter_sets(std::span<const std::string> names,
                                                           std::span<const Enrolled> known);
/// The same for the benchmarks of a sweep.
[[nodiscard]] std::vector<std::string> wanted_counter_sets(const Sweep& sweep,
                                                           std::span<const Enrolled> known);

/// Keeps the cases whose id matches the ECMAScript regular expression (searched, not anchored).
/// Throws UsageError for an expression that is malformed, too long or too large to match.
[[nodiscard]] std::vector<Case> filter(std::vector<Case> cases, const std::string& expression);

}  // namespace strata
