// Rows and facts of what the driver reported while kernels ran.
#pragma once

#include "harness/cuda/nvml_watch.hpp"
#include "harness/measure/session.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace strata {

/// The known values of one kind.
template <class Value>
[[nodiscard]] std::vector<double> of_all(const std::vector<TimedReading>& readings,
                                         std::optional<Value> NvmlReading::*what) {
  std::vector<double> values;
  for (const TimedReading& one : readings) {
    if (const auto& value = one.reading.*what) values.push_back(static_cast<double>(*value));
  }
  return values;
}

/// Adds rows of clock and power, and facts of the reasons for a lower clock.
inline void report_readings(Session& session, const std::vector<TimedReading>& readings) {
  const auto row = [&](const char* quantity, const char* unit, const char* method,
                       std::vector<double> samples) {
    if (samples.empty()) return false;
    session.add(Measurement{.quantity = quantity,
                            .unit = unit,
                            .provenance = Provenance::reported,
                            .method = method,
                            .samples = std::move(samples)});
    return true;
  };
  row("driver_clock", "Hz", "nvml", of_all(readings, &NvmlReading::sm_hertz));
  if (!row("power", "W", "nvml_instant", of_all(readings, &NvmlReading::watts)))
    row("power", "W", "nvml_mean", of_all(readings, &NvmlReading::mean_watts));
  std::uint64_t reasons = 0;
  std::size_t known = 0;
  std::size_t throttled = 0;
  for (const TimedReading& one : readings) {
    if (!one.reading.reasons) continue;
    ++known;
    reasons |= *one.reading.reasons;
    throttled += (*one.reading.reasons & throttling_bits) != 0 ? 1 : 0;
  }
  session.fact("driver_readings", static_cast<std::int64_t>(readings.size()));
  if (known == 0) return;
  session.fact("throttle_reasons", static_cast<std::int64_t>(reasons));
  session.fact("throttled_share", static_cast<double>(throttled) / static_cast<double>(known));
}

}  // namespace strata
