#include "harness/counters/cupti_host.hpp"

#include "harness/case/error.hpp"
#include "harness/case/text.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/cupti_check.hpp"

#include <cupti_profiler_host.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace strata {
namespace {

constexpr std::size_t most_suggestions = 3;

/// CUPTI reads pointers to names, and never writes through them.
std::vector<const char*> pointers(std::span<const std::string> names) {
  std::vector<const char*> out;
  out.reserve(names.size());
  for (const auto& name : names)
    out.push_back(name.c_str());
  return out;
}

/// CUPTI takes read-only data through pointers to non-const.
std::uint8_t* unread(std::span<const std::uint8_t> bytes) {
  return const_cast<std::uint8_t*>(bytes.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

/// One part of a unit as CUPTI writes it ("l2_sector"), as this project does.
std::string short_unit(std::string_view part) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> forms{{
      {"byte", "B"},
      {"second", "s"},
      {"nanosecond", "ns"},
      {"percent", "%"},
      {"l2_sector", "sector"},
      {"gpc_cycle", "cycle"},
      {"gpc_cyclewarp", "warp*cycle"},  // CUPTI writes products without a sign
      {"", "1"},
  }};
  for (const auto& [theirs, ours] : forms) {
    if (part == theirs) return std::string{ours};
  }
  return std::string{part};
}

std::string short_form(std::string_view unit) {
  const auto slash = unit.find('/');
  const auto above = short_unit(unit.substr(0, slash));
  if (slash == std::string_view::npos) return above;
  return fmt::format("{}/{}", above, short_unit(unit.substr(slash + 1)));
}

/// The metric without its rollup.
std::string_view base_of(std::string_view metric) {
  return metric.substr(0, metric.find('.'));
}

/// The largest edit distance at which `name` is suggested for `word`.
std::size_t slips(std::string_view word, std::string_view name) {
  return (std::max(word.size(), name.size()) + 2) / 3;
}

bool names_the_metrics(CUptiResult code) {
  switch (code) {
    case CUPTI_ERROR_INVALID_PARAMETER:
    case CUPTI_ERROR_INVALID_METRIC_NAME:
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

}  // namespace

void CuptiHost::Deinitialize::operator()(CUpti_Profiler_Host_Object* object) const noexcept {
  auto params = CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, .pHostObject = object);
  cupti_release(cuptiProfilerHostDeinitialize(&params), "closing a description of a chip");
}

std::vector<std::string> CuptiHost::chips() {
  const auto params = cupti_call(cuptiProfilerHostGetSupportedChips,
                                 CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips, ));
  return {params.ppChipNames, params.ppChipNames + params.numChips};
}

CuptiHost::CuptiHost(std::string chip, std::vector<std::uint8_t> availability)
    : chip_{std::move(chip)}, availability_{std::move(availability)} {
  const auto known = chips();
  if (std::find(known.begin(), known.end(), chip_) == known.end()) {
    const auto near = nearest_name(chip_, known);
    throw UsageError{fmt::format(
        "chip {}: CUPTI knows no such chip; expected one of {}; {}", in_quotes(chip_),
        joined(known),
        near ? fmt::format("did you mean '{}'?", *near) : std::string{"name one of these"})};
  }
  try {
    asked_ = open();
  } catch (const CuptiError& error) {
    throw CountersUnavailable{fmt::format("CUPTI lists the chip {} and cannot describe it ({})",
                                          chip_, cupti_error_name(error.code())),
                              ""};
  }
}

CuptiHost::Object CuptiHost::open() const {
  const auto params = cupti_call(
      cuptiProfilerHostInitialize,
      CUPTI_PARAMS(
          CUpti_Profiler_Host_Initialize, .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
          .pChipName = chip_.c_str(),
          .pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data()));
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
  // CUPTI describes a name without rollup too, and then refuses to count it.
  if (base_of(metric) == metric) return std::nullopt;
  return properties(metric);
}

MetricFacts CuptiHost::describe(const std::string& base_metric) {
  return properties(base_metric).value();
}

bool CuptiHost::known_elsewhere(const std::string& metric) {
  const auto asked_before = elsewhere_.find(metric);
  if (asked_before != elsewhere_.end()) return asked_before->second;
  bool found = false;
  for (const auto& chip : chips()) {
    if (chip == chip_ || found) continue;
    try {
      found = CuptiHost{chip}.find(metric).has_value();
    } catch (const CountersUnavailable&) {
      continue;  // a chip that cannot be described has no say
    }
  }
  elsewhere_.emplace(metric, found);
  return found;
}

std::vector<std::string> CuptiHost::nearest(const std::string& metric) {
  const std::string base{base_of(metric)};
  const auto rollup = metric.substr(base.size());
  std::vector<std::pair<std::size_t, std::string_view>> candidates;
  for (const auto& name : base_metrics()) {
    const auto distance = edit_distance(base, name);
    if (distance <= slips(base, name)) candidates.emplace_back(distance, name);
  }
  std::sort(candidates.begin(), candidates.end());
  std::vector<std::string> names;
  for (const auto& [distance, name] : candidates) {
    // Of a name that is right, the rollups; of others, the one that was asked for or the first.
    for (const std::string& ending :
         {rollup, std::string{".sum"}, std::string{".ratio"},
          std::string{".avg.pct_of_peak_sustained_elapsed"}, std::string{".avg"}}) {
      auto whole = std::string{name} + ending;
      if (names.size() == most_suggestions) return names;
      if (!find(whole) || std::find(names.begin(), names.end(), whole) != names.end()) continue;
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
        cupti_call(cuptiProfilerHostGetBaseMetrics,
                   CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics, .pHostObject = asked_.get(),
                                .metricType = static_cast<CUpti_MetricType>(type)));
    base_metrics_.insert(base_metrics_.end(), params.ppMetricNames,
                         params.ppMetricNames + params.numMetrics);
  }
  std::sort(base_metrics_.begin(), base_metrics_.end());
  return base_metrics_;
}

std::vector<std::uint8_t> CuptiHost::config_image_of(CUpti_Profiler_Host_Object& object,
                                                     std::span<const std::string> metrics) {
  auto names = pointers(metrics);
  (void)cupti_call(cuptiProfilerHostConfigAddMetrics,
                   CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, .pHostObject = &object,
                                .ppMetricNames = names.data(), .numMetrics = names.size()));

  const auto size =
      cupti_call(cuptiProfilerHostGetConfigImageSize,
                 CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, .pHostObject = &object));

  std::vector<std::uint8_t> image(size.configImageSize);
  (void)cupti_call(cuptiProfilerHostGetConfigImage,
                   CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, .pHostObject = &object,
                                .configImageSize = image.size(), .pConfigImage = image.data()));
  return image;
}

std::vector<std::uint8_t> CuptiHost::config_image(std::span<const std::string> metrics) {
  // One name that it does not like, and an object answers CUPTI_ERROR_UNKNOWN ever after: each list
  // gets an object of its own.
  auto object = open();
  auto image = config_image_of(*object, metrics);
  configured_ = std::move(object);
  return image;
}

std::optional<std::size_t> CuptiHost::passes(std::span<const std::string> metrics) {
  if (metrics.empty()) return 0;
  const auto object = open();
  try {
    const auto image = config_image_of(*object, metrics);
    const auto params =
        cupti_call(cuptiProfilerHostGetNumOfPasses,
                   CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, .configImageSize = image.size(),
                                .pConfigImage = unread(image)));
    return params.numOfPasses;
  } catch (const CuptiError& error) {
    if (names_the_metrics(error.code())) return std::nullopt;
    throw;
  }
}

std::vector<double> CuptiHost::evaluate(std::span<const std::uint8_t> counter_data,
                                        std::size_t range, std::span<const std::string> metrics) {
  auto names = pointers(metrics);
  std::vector<double> values(metrics.size());
  (void)cupti_call(cuptiProfilerHostEvaluateToGpuValues,
                   CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues,
                                .pHostObject = configured_ ? configured_.get() : asked_.get(),
                                .pCounterDataImage = counter_data.data(),
                                .counterDataImageSize = counter_data.size(), .rangeIndex = range,
                                .ppMetricNames = names.data(), .numMetrics = names.size(),
                                .pMetricValues = values.data()));
  return values;
}

}  // namespace strata
