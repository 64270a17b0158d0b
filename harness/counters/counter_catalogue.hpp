// What a chip can count, asked of a library that needs no such chip: names, units, and how often a
// piece of work must run to be counted. What is behind it is a link-time choice
// (harness/counters): CUPTI, or nothing, which says so.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// What the library says of one metric.
struct MetricFacts {
  std::string unit;  ///< "sector", "B", "B/s", "%", "1": short where this project has a short form
  std::string meaning;  ///< one line, in the library's words
};

/// The metrics of one chip. No call leaves the catalogue unable to answer the next one.
class MetricCatalogue {
 public:
  MetricCatalogue() = default;
  MetricCatalogue(const MetricCatalogue&) = delete;
  MetricCatalogue& operator=(const MetricCatalogue&) = delete;
  MetricCatalogue(MetricCatalogue&&) = delete;
  MetricCatalogue& operator=(MetricCatalogue&&) = delete;
  virtual ~MetricCatalogue() = default;

  /// "GH100".
  [[nodiscard]] virtual const std::string& chip() const = 0;
  /// Nothing when this chip has no such metric, or the name lacks its rollup (".sum").
  [[nodiscard]] virtual std::optional<MetricFacts> find(const std::string& metric) = 0;
  /// True when some other chip that the library knows has the metric.
  [[nodiscard]] virtual bool known_elsewhere(const std::string& metric) = 0;
  /// Whole names (with rollup) that whoever wrote `metric` may have meant, nearest first; at most
  /// three.
  [[nodiscard]] virtual std::vector<std::string> nearest(const std::string& metric) = 0;
  /// How often a piece of work runs for these to be counted together; nothing when they cannot be
  /// (a name may be known and yet stand for what no hardware counter can give).
  [[nodiscard]] virtual std::optional<std::size_t> passes(std::span<const std::string> metrics) = 0;
  /// Every name of the chip, without rollup, sorted.
  [[nodiscard]] virtual const std::vector<std::string>& base_metrics() = 0;
  /// Of one of base_metrics().
  [[nodiscard]] virtual MetricFacts describe(const std::string& base_metric) = 0;
};

/// The library and its version: "CUPTI 130001". Throws CountersUnavailable without the library.
[[nodiscard]] std::string catalogue_version();

/// The chips that the library knows, oldest first. Throws CountersUnavailable without the library.
[[nodiscard]] std::vector<std::string> known_chips();

/// The metrics of a chip. Throws UsageError with the nearest names for an unknown chip,
/// CountersUnavailable for one that the library lists and cannot describe, or without the library.
[[nodiscard]] std::unique_ptr<MetricCatalogue> open_catalogue(const std::string& chip);

/// The chip of a CUDA device of this machine. Throws DeviceUnavailable when there is none,
/// CountersUnavailable without the library.
[[nodiscard]] std::string chip_of_device(int ordinal);

}  // namespace strata
