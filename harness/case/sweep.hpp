#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/case.hpp"
#include "harness/case/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {

/// One entry of a sweep: a benchmark and the values of some of its axes.
struct SweepEntry {
  std::string benchmark;
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;  ///< canonical values
};

/// The contents of a sweep file, checked against the benchmarks.
struct Sweep {
  std::string name;
  std::string file;  ///< as the user named it; for messages and context.json
  std::string text;  ///< of the file
  Plan plan;
  std::vector<SweepEntry> entries;
};

/// Maximum combinations of values in a sweep, excluded ones included: seven hours at 0.1 s each.
inline constexpr std::size_t max_sweep_points = 1 << 18;

/// Reads a sweep from YAML text. Throws UsageError "FILE:LINE: found; expected …; remedy". Only the
/// canonical form of an axis value is accepted. `last_level_bytes`: the CPU's last-level cache, to
/// which a range may refer; 0 if unknown.
[[nodiscard]] Sweep parse_sweep(std::string_view text, const std::string& file,
                                std::span<const Enrolled> known,
                                std::uint64_t last_level_bytes = 0);

/// Reads the file `name`, or else the built-in sweep of that name. Throws UsageError.
[[nodiscard]] Sweep load_sweep(const std::string& name, std::span<const Enrolled> known,
                               std::uint64_t last_level_bytes = 0);

/// Applies each `--set benchmark.axis=a,b` to every entry of the benchmark, or `--set
/// plan.key=number` to the plan. Only the final plan must be consistent, so their order is free.
/// Throws UsageError and leaves the sweep unchanged.
void apply_settings(Sweep& sweep, const std::vector<std::string>& settings,
                    std::span<const Enrolled> known);

/// The cases on `backend`, each once, independent of the order in the file: benchmarks by name,
/// axes in declaration order, values in canonical order, without excluded cases and those without a
/// body here. Throws UsageError for more than max_sweep_points combinations, std::invalid_argument
/// for a sweep that was not checked against these benchmarks.
[[nodiscard]] std::vector<Case> expand(const Sweep& sweep, Backend backend,
                                       std::span<const Enrolled> known);

/// The counter sets that these benchmarks need besides `memory`, each once, sorted.
[[nodiscard]] std::vector<std::string> wanted_counter_sets(std::span<const std::string> names,
                                                           std::span<const Enrolled> known);
[[nodiscard]] std::vector<std::string> wanted_counter_sets(const Sweep& sweep,
                                                           std::span<const Enrolled> known);

/// A benchmark of a sweep that has no case on a backend, or a value that the sweep names for an
/// axis and that no case has.
struct DroppedItem {
  std::string what;  ///< "coalescing", or as in --set: "latency_vs_footprint.space=texture"
  std::string reason;
  bool operator==(const DroppedItem&) const = default;
};
/// In the order of expand().
[[nodiscard]] std::vector<DroppedItem> dropped_items(const Sweep& sweep, Backend backend,
                                                     std::span<const Enrolled> known);

/// Whether the text of the sweep is that of a built-in one.
[[nodiscard]] bool is_builtin(const Sweep& sweep);

/// Throws UsageError for cases and a plan that no sweep can have: an unknown benchmark, another
/// backend, parameters that are not a case of the benchmark, numbers out of range. `place` begins
/// the message.
void check_recorded(std::string_view place, const std::vector<Case>& cases, const Plan& plan,
                    Backend backend, std::span<const Enrolled> known);

/// Keeps the cases whose id contains a match of the expression. Throws UsageError for a bad
/// expression.
[[nodiscard]] std::vector<Case> filter(std::vector<Case> cases, const std::string& expression);

}  // namespace strata
