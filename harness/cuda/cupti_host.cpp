#include "harness/cuda/cupti_host.hpp"

#include "harness/base/text.hpp"
#include "harness/cuda/cupti_check.hpp"
#include "harness/cuda/cupti_library.hpp"

#include <cupti_profiler_host.h>
#include <cupti_version.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace strata {
namespace {

/// The short form of one part of a CUPTI unit, such as "l2_sector".
std::string short_unit(const std::string& part) {
  static const std::map<std::string, std::string> forms{
      {"byte", "B"},
      {"second", "s"},
      {"nanosecond", "ns"},
      {"percent", "%"},
      {"l2_sector", "sector"},
      {"gpc_cycle", "cycle"},
      {"gpc_cyclewarp", "warp*cycle"},  // CUPTI writes products without an operator
      {"", "1"}};
  const auto found = forms.find(part);
  return found == forms.end() ? part : found->second;
}

std::string short_form(const std::string& unit) {
  const auto slash = unit.find('/');
  const auto above = short_unit(unit.substr(0, slash));
  return slash == std::string::npos ? above : above + '/' + short_unit(unit.substr(slash + 1));
}

/// The metric without its rollup.
std::string base_of(const std::string& metric) {
  return metric.substr(0, metric.find('.'));
}

std::vector<std::uint8_t> config_image_of(CUpti_Profiler_Host_Object& object,
                                          std::span<const std::string> metrics) {
  auto names = pointers(metrics);
  CUPTI_CALL(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics,
             .pHostObject = &object, .ppMetricNames = names.data(), .numMetrics = names.size());
  const auto size = CUPTI_CALL(cuptiProfilerHostGetConfigImageSize,
                               CUpti_Profiler_Host_GetConfigImageSize, .pHostObject = &object);
  std::vector<std::uint8_t> image(size.configImageSize);
  CUPTI_CALL(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage,
             .pHostObject = &object, .configImageSize = image.size(), .pConfigImage = image.data());
  return image;
}

}  // namespace

std::vector<const char*> pointers(std::span<const std::string> names) {
  std::vector<const char*> out;
  for (const auto& name : names)
    out.push_back(name.c_str());
  return out;
}

std::string catalogue_version() {
  require_cupti();
  std::uint32_t version = 0;
  cupti_check(cuptiGetVersion(&version));
  return fmt::format("CUPTI {}", version);
}

std::vector<std::string> known_chips() {
  require_cupti();
  const auto params =
      CUPTI_CALL(cuptiProfilerHostGetSupportedChips, CUpti_Profiler_Host_GetSupportedChips, );
  return {params.ppChipNames, params.ppChipNames + params.numChips};
}

std::unique_ptr<MetricCatalogue> open_catalogue(const std::string& chip) {
  return std::make_unique<CuptiHost>(chip);
}

void CuptiHost::Deinitialize::operator()(CUpti_Profiler_Host_Object* object) const noexcept {
  auto params = CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, .pHostObject = object);
  cupti_release(cuptiProfilerHostDeinitialize(&params), "closing a chip description");
}

CuptiHost::CuptiHost(std::string chip) : chip_{std::move(chip)} {
  const auto known = known_chips();
  if (std::ranges::find(known, chip_) == known.end()) {
    refuse({"chip " + in_quotes(chip_)}, "CUPTI knows no such chip", "one of " + joined(known),
           did_you_mean(chip_, known, "use one of these"));
  }
  try {
    asked_ = open();
  } catch (const CuptiError& error) {
    throw CountersUnavailable{fmt::format("CUPTI lists the chip {} but cannot describe it ({})",
                                          chip_, cupti_error_name(error.code())),
                              ""};
  }
}

CuptiHost::Object CuptiHost::open() const {
  const auto params =
      CUPTI_CALL(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize,
                 .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER, .pChipName = chip_.c_str());
  return Object{params.pHostObject};
}

std::optional<MetricFacts> CuptiHost::properties(const std::string& name) const {
  auto params = CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties, .pHostObject = asked_.get(),
                             .pMetricName = name.c_str());
  const auto code = cuptiProfilerHostGetMetricProperties(&params);
  if (code == CUPTI_ERROR_INVALID_METRIC_NAME || code == CUPTI_ERROR_INVALID_PARAMETER) {
    return std::nullopt;
  }
  cupti_check(code);
  return MetricFacts{
      .unit = short_form(params.pDimUnit == nullptr ? "" : params.pDimUnit),
      .meaning = one_line(params.pDescription == nullptr ? "" : params.pDescription)};
}

std::optional<MetricFacts> CuptiHost::find(const std::string& metric) {
  // CUPTI also describes names without a rollup, but then refuses to count them.
  if (base_of(metric) == metric) return std::nullopt;
  return properties(metric);
}

bool CuptiHost::known_elsewhere(const std::string& metric) {
  const auto asked_before = elsewhere_.find(metric);
  if (asked_before != elsewhere_.end()) return asked_before->second;
  const bool found = std::ranges::any_of(known_chips(), [&](const std::string& chip) {
    try {
      return chip != chip_ && CuptiHost{chip}.find(metric).has_value();
    } catch (const CountersUnavailable&) {
      return false;  // a chip that cannot be described is ignored
    }
  });
  elsewhere_.emplace(metric, found);
  return found;
}

std::vector<std::string> CuptiHost::nearest(const std::string& metric) {
  constexpr std::size_t most_suggestions = 3;
  const auto base = base_of(metric);
  std::vector<std::pair<std::size_t, std::string>> candidates;
  for (const auto& name : base_metrics()) {
    const auto distance = edit_distance(base, name);
    if (distance <= (std::max(base.size(), name.size()) + 2) / 3) {
      candidates.emplace_back(distance, name);
    }
  }
  std::ranges::sort(candidates);
  std::vector<std::string> names;
  for (const auto& [distance, name] : candidates) {
    // For a correct name all its rollups; for other names the requested rollup or the first one.
    for (const auto& ending :
         {metric.substr(base.size()), std::string{".sum"}, std::string{".ratio"},
          std::string{".avg.pct_of_peak_sustained_elapsed"}, std::string{".avg"}}) {
      if (names.size() == most_suggestions) return names;
      auto whole = name + ending;
      if (!find(whole) || std::ranges::find(names, whole) != names.end()) continue;
      names.push_back(std::move(whole));
      if (distance != 0) break;
    }
  }
  return names;
}

const std::vector<std::string>& CuptiHost::base_metrics() {
  if (!base_metrics_.empty()) return base_metrics_;
  for (int type = 0; type < CUPTI_METRIC_TYPE__COUNT; ++type) {
    const auto params =
        CUPTI_CALL(cuptiProfilerHostGetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics,
                   .pHostObject = asked_.get(), .metricType = static_cast<CUpti_MetricType>(type));
    base_metrics_.insert(base_metrics_.end(), params.ppMetricNames,
                         params.ppMetricNames + params.numMetrics);
  }
  std::ranges::sort(base_metrics_);
  return base_metrics_;
}

std::vector<std::uint8_t> CuptiHost::config_image(std::span<const std::string> metrics) {
  // After one unknown name, an object returns CUPTI_ERROR_UNKNOWN for everything, so each list gets
  // a new object.
  auto object = open();
  auto image = config_image_of(*object, metrics);
  configured_ = std::move(object);
  return image;
}

std::optional<std::size_t> CuptiHost::passes(std::span<const std::string> metrics) {
  if (metrics.empty()) return 0;
  const auto object = open();
  try {
    auto image = config_image_of(*object, metrics);
    const auto params =
        CUPTI_CALL(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses,
                   .configImageSize = image.size(), .pConfigImage = image.data());
    return params.numOfPasses;
  } catch (const CuptiError& error) {
    constexpr std::array of_the_metrics{CUPTI_ERROR_INVALID_PARAMETER,
                                        CUPTI_ERROR_INVALID_METRIC_NAME, CUPTI_ERROR_NOT_SUPPORTED,
                                        CUPTI_ERROR_UNKNOWN};
    if (std::ranges::find(of_the_metrics, error.code()) != of_the_metrics.end()) {
      return std::nullopt;
    }
    throw;
  }
}

std::vector<double> CuptiHost::evaluate(std::span<const std::uint8_t> counter_data,
                                        std::size_t range, std::span<const std::string> metrics) {
  auto names = pointers(metrics);
  std::vector<double> values(metrics.size());
  CUPTI_CALL(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues,
             .pHostObject = configured_ ? configured_.get() : asked_.get(),
             .pCounterDataImage = counter_data.data(), .counterDataImageSize = counter_data.size(),
             .rangeIndex = range, .ppMetricNames = names.data(), .numMetrics = names.size(),
             .pMetricValues = values.data());
  return values;
}

}  // namespace strata
