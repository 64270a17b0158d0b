// The part of CUPTI that needs neither GPU nor driver: what a chip can count, the configuration
// image that programs the hardware, and the evaluation of counter data images.
#pragma once

#include "harness/counters/counter_set.hpp"

#include <cstdint>

struct CUpti_Profiler_Host_Object;

namespace strata {

/// The names as pointers for CUPTI, which never writes through them.
[[nodiscard]] std::vector<const char*> pointers(std::span<const std::string> names);

/// CUPTI's description of one chip, for the range profiler.
class CuptiHost final : public MetricCatalogue {
 public:
  /// As open_catalogue().
  explicit CuptiHost(std::string chip);

  [[nodiscard]] const std::string& chip() const override { return chip_; }
  [[nodiscard]] std::optional<MetricFacts> find(const std::string& metric) override;
  [[nodiscard]] bool known_elsewhere(const std::string& metric) override;
  [[nodiscard]] std::vector<std::string> nearest(const std::string& metric) override;
  [[nodiscard]] std::optional<std::size_t> passes(std::span<const std::string> metrics) override;
  [[nodiscard]] const std::vector<std::string>& base_metrics() override;
  [[nodiscard]] MetricFacts describe(const std::string& base_metric) override {
    return properties(base_metric).value();
  }

  /// The configuration image for cuptiRangeProfilerSetConfig. Throws CuptiError for a metric that
  /// the chip does not have or metrics that cannot be counted together; later calls still work.
  [[nodiscard]] std::vector<std::uint8_t> config_image(std::span<const std::string> metrics);

  /// The value of each metric in range `range` of a decoded counter data image. Throws CuptiError.
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

  std::string chip_;
  Object asked_;       // for queries of names, which do not change it
  Object configured_;  // holds the metrics of the last config_image()
  std::vector<std::string> base_metrics_;
  std::map<std::string, bool, std::less<>> elsewhere_;  // metric → whether another chip has it
};

}  // namespace strata
