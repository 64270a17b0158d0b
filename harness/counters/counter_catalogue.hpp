// What a chip can count: metrics, units, and the number of passes. Answered by a library that needs
// no such chip. The implementation is a link-time choice: CUPTI, or a stand-in that reports its
// absence.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  /// Nothing when this chip has no such metric, or the name lacks its rollup (".sum").
  [[nodiscard]] virtual std::optional<MetricFacts> find(const std::string& metric) = 0;
  /// True when some other chip that the library knows has the metric.
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
