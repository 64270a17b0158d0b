// What a chip can count, according to a library that does not need the chip; counter sets, which
// are files that map quantities to metrics of chips; and the selections of --counters.
#pragma once

#include "harness/counters/counters.hpp"

#include <string_view>

namespace strata {

/// The library's description of one metric.
struct MetricFacts {
  std::string unit;     ///< "sector", "B", "B/s", "%", "1": in this project's short form
  std::string meaning;  ///< one line, the library's words
};

/// The metrics of one chip. A failed call does not affect later ones.
class MetricCatalogue {
 public:
  virtual ~MetricCatalogue() = default;

  /// "GH100".
  [[nodiscard]] virtual const std::string& chip() const = 0;
  /// Nothing if this chip has no such metric, or the name lacks its rollup (".sum").
  [[nodiscard]] virtual std::optional<MetricFacts> find(const std::string& metric) = 0;
  /// True if another chip that the library knows has the metric.
  [[nodiscard]] virtual bool known_elsewhere(const std::string& metric) = 0;
  /// At most three complete names (with rollup) close to `metric`, nearest first.
  [[nodiscard]] virtual std::vector<std::string> nearest(const std::string& metric) = 0;
  /// The number of passes to count these metrics together; nothing when they cannot be counted (the
  /// library also knows names that no hardware counter can provide).
  [[nodiscard]] virtual std::optional<std::size_t> passes(std::span<const std::string> metrics) = 0;
  /// The names of all metrics of the chip, without rollup, sorted.
  [[nodiscard]] virtual const std::vector<std::string>& base_metrics() = 0;
  /// The description of one of base_metrics().
  [[nodiscard]] virtual MetricFacts describe(const std::string& base_metric) = 0;
};

// These throw CountersUnavailable without the library.

/// The library and its version: "CUPTI 130001".
[[nodiscard]] std::string catalogue_version();
/// The chips that the library knows, oldest first.
[[nodiscard]] std::vector<std::string> known_chips();
/// The metrics of a chip. Throws UsageError with the nearest names for an unknown chip,
/// CountersUnavailable for one that the library lists and cannot describe.
[[nodiscard]] std::unique_ptr<MetricCatalogue> open_catalogue(const std::string& chip);
/// The chip of a CUDA device of this machine. Throws DeviceUnavailable when there is none.
[[nodiscard]] std::string chip_of_device(int ordinal);

/// Values of --counters: `memory` and the other sets that the benchmarks of the sweep use, if
/// available; and nothing.
inline constexpr const char* counters_auto = "auto";
inline constexpr const char* counters_none = "none";

/// The names of all flags, each a comma-separated list; {"auto"} without flags. Throws UsageError
/// for an empty or repeated name, and for auto or none combined with others.
[[nodiscard]] std::vector<std::string> parse_counters(const std::vector<std::string>& flags);

/// The selection to open, empty for {"none"}. {"auto"} means `memory` and `wanted`, of which
/// each case counts the part of its own benchmark.
[[nodiscard]] CounterSelection selection_of(const std::vector<std::string>& requested,
                                            std::span<const std::string> wanted);

struct NamedMetric {
  std::string name;
  std::size_t line = 0;  ///< of the file
};

/// One quantity of a set. It is counted by the first of its metrics that the chip has.
struct SetQuantity {
  std::string name;
  std::string unit;
  std::string meaning;  ///< one line
  std::vector<NamedMetric> metrics;
};
/// "a, b".
[[nodiscard]] std::string metric_names(const SetQuantity& quantity);

/// The contents of a counter set file.
struct CounterSet {
  std::string name;  ///< of the file, without its extension
  std::string file;  ///< as the user named it; for messages
  bool built_in = false;
  std::string title;  ///< one line
  std::vector<SetQuantity> quantities;
};

/// The set that is part of every plan: the level gate needs it.
inline constexpr std::string_view memory_set = "memory";

/// Reads a set from YAML text. Throws UsageError "FILE:LINE: …".
[[nodiscard]] CounterSet parse_counter_set(std::string_view text, const std::string& file);

/// The names of the built-in sets, sorted.
[[nodiscard]] std::vector<std::string> counter_set_names();

/// A built-in set by its name, or a file (a name that ends in .yaml or .yml, or contains '/').
/// Throws UsageError that begins with `flag` and lists the built-in sets.
[[nodiscard]] CounterSet load_counter_set(const std::string& name, std::string_view flag);

/// True for the name of a chip's metric ("l1tex__t_bytes.sum"): it contains "__" and no '/'.
[[nodiscard]] bool is_raw_metric(std::string_view name);

struct ResolvedQuantity {
  SetQuantity requested;
  std::optional<std::size_t> choice;  ///< index into requested.metrics; nothing: the chip has none
  /// Throws std::bad_optional_access if there is none.
  [[nodiscard]] const std::string& metric() const { return requested.metrics[choice.value()].name; }
};

/// A set on a chip.
struct ResolvedSet {
  CounterSet set;
  std::vector<ResolvedQuantity> quantities;
  std::size_t passes = 0;  ///< to count this set alone
  /// The counted metrics, each once.
  [[nodiscard]] std::vector<std::string> metrics() const;
};

/// Resolves a set on a chip. A quantity that the chip cannot count is not an error. Throws
/// UsageError "FILE:LINE: …" with the nearest names for a metric of a user's file that no known
/// chip has.
[[nodiscard]] ResolvedSet resolve_set(const CounterSet& set, MetricCatalogue& catalogue);

/// Resolves the set "memory", then the selection in its order. A metric is counted once, under the
/// first name that refers to it; its other names are listed as absent. A raw metric is a quantity
/// of its own name. Throws UsageError for a set, file or metric that does not exist, a name with
/// two meanings and metrics that cannot be counted; the message names file and line, or begins with
/// `flag`.
[[nodiscard]] CounterPlan resolve(const CounterSelection& selection, MetricCatalogue& catalogue,
                                  std::string_view flag = "--counters");

}  // namespace strata
