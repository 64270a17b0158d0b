// The half of CUPTI that needs neither a GPU nor a driver: what a chip can count, the image that
// tells the hardware to count it, and the numbers out of the image that comes back.
#pragma once

#include "harness/counters/counter_catalogue.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct CUpti_Profiler_Host_Object;

namespace strata {

/// CUPTI's description of one chip, for the range profiler.
class CuptiHost final : public MetricCatalogue {
 public:
  /// `chip` as chips() spells it. `availability`: what cuptiProfilerGetCounterAvailability said of
  /// the device at hand, where it was asked. Throws UsageError with the nearest names for an
  /// unknown chip, CountersUnavailable for one that CUPTI lists and cannot describe.
  explicit CuptiHost(std::string chip, std::vector<std::uint8_t> availability = {});

  /// The chips that this CUPTI knows, in its order. Throws CuptiError.
  [[nodiscard]] static std::vector<std::string> chips();

  [[nodiscard]] const std::string& chip() const override { return chip_; }
  [[nodiscard]] std::optional<MetricFacts> find(const std::string& metric) override;
  [[nodiscard]] bool known_elsewhere(const std::string& metric) override;
  [[nodiscard]] std::vector<std::string> nearest(const std::string& metric) override;
  [[nodiscard]] std::optional<std::size_t> passes(std::span<const std::string> metrics) override;
  [[nodiscard]] const std::vector<std::string>& base_metrics() override;
  [[nodiscard]] MetricFacts describe(const std::string& base_metric) override;

  /// What cuptiRangeProfilerSetConfig wants. Throws CuptiError for a metric that the chip does not
  /// have or metrics that cannot be counted together; the next call works all the same.
  [[nodiscard]] std::vector<std::uint8_t> config_image(std::span<const std::string> metrics);

  /// What range `range` of a decoded counter data image says of each metric, in their order.
  /// Throws CuptiError.
  [[nodiscard]] std::vector<double> evaluate(std::span<const std::uint8_t> counter_data,
                                             std::size_t range,
                                             std::span<const std::string> metrics);

 private:
  struct Deinitialize {
    void operator()(CUpti_Profiler_Host_Object* object) const noexcept;
  };
  using Object = std::unique_ptr<CUpti_Profiler_Host_Object, Deinitialize>;

  [[nodiscard]] Object open() const;
  [[nodiscard]] std::optional<MetricFacts> properties(const std::string& name) const;
  [[nodiscard]] static std::vector<std::uint8_t> config_image_of(
      CUpti_Profiler_Host_Object& object, std::span<const std::string> metrics);

  std::string chip_;
  std::vector<std::uint8_t> availability_;
  Object asked_;       // for questions about names: those do no harm to it
  Object configured_;  // the metrics of the last config_image() were added to it
  std::vector<std::string> base_metrics_;
  std::map<std::string, bool, std::less<>> elsewhere_;  // metric → some other chip has it
};

}  // namespace strata
