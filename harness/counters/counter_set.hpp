// Counter sets: files that say what may be counted, under which name, and by which metric of which
// chip; and what becomes of a user's selection on the chip at hand.
#pragma once

#include "harness/counters/counter_catalogue.hpp"
#include "harness/counters/counters.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// A metric as a file names it.
struct NamedMetric {
  std::string name;
  std::size_t line = 0;
};

/// One quantity of a set. The first of its metrics that a chip can count stands for it.
struct SetQuantity {
  std::string name;
  std::string unit;
  std::string meaning;  ///< one line
  std::vector<NamedMetric> metrics;
};

/// A counter set as its file states it.
struct CounterSet {
  std::string name;  ///< of the file, without its ending
  std::string file;  ///< as the user named it; for messages
  bool built_in = false;
  std::string title;  ///< one line
  std::vector<SetQuantity> quantities;
};

/// The set that every plan holds: the level gate needs it.
inline constexpr std::string_view memory_set = "memory";

/// Reads a set from YAML text. Throws UsageError "FILE:LINE: …", one line, for what yaml_tree
/// refuses, unknown keys, wrong types, empty lists, duplicate names and metrics, names that are no
/// names.
[[nodiscard]] CounterSet parse_counter_set(std::string_view text, const std::string& file);

/// Names of the sets that this executable carries, sorted.
[[nodiscard]] std::vector<std::string> counter_set_names();

/// One of those sets by its name, or a file (a name that ends in .yaml or .yml, or has a '/').
/// Throws UsageError naming what there is; its message begins with `flag`.
[[nodiscard]] CounterSet load_counter_set(const std::string& name, std::string_view flag);

/// True for the name of a metric of a chip ("l1tex__t_bytes.sum"): these hold "__" and no '/'.
[[nodiscard]] bool is_raw_metric(std::string_view name);

/// What stands for a quantity of a set on a chip.
struct ResolvedQuantity {
  SetQuantity asked;
  std::optional<std::size_t>
      choice;  ///< which of asked.metrics; nothing: the chip has none of them
  /// The metric. Throws std::bad_optional_access where there is none.
  [[nodiscard]] const std::string& metric() const { return asked.metrics[choice.value()].name; }
};

/// A set on a chip.
struct ResolvedSet {
  CounterSet set;
  std::vector<ResolvedQuantity> quantities;
  std::size_t passes = 0;  ///< to count this set alone

  /// What is counted, each metric once.
  [[nodiscard]] std::vector<std::string> metrics() const;
};

/// What a chip makes of a set. A quantity that the chip cannot count is no error. Throws UsageError
/// "FILE:LINE: …" with the nearest names for a metric of a user's file that no known chip has.
[[nodiscard]] ResolvedSet resolve_set(const CounterSet& set, MetricCatalogue& catalogue);

/// What is counted when `selection` is asked for on this chip: the set "memory" first, then what
/// was asked for, in that order. A metric is counted once, under the first name that asked for it;
/// other names for it are listed as absent. A raw metric is a quantity of its own name. Throws
/// UsageError for a set, file or metric that does not exist, for one name with two meanings and for
/// metrics that cannot be counted; its message names file and line, or begins with `flag`.
[[nodiscard]] CounterPlan resolve(const CounterSelection& selection, MetricCatalogue& catalogue,
                                  std::string_view flag = "--counters");

}  // namespace strata
