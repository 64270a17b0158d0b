// Counters of the device that a worker was told to measure.
#pragma once

#include "harness/counters/counters.hpp"
#include "harness/record/device.hpp"

#include <memory>
#include <string_view>

namespace strata {

/// Why the host has no counts.
inline constexpr std::string_view host_has_no_counters =
    "hardware counters are read on GPUs only, and this is the CPU";

/// The counters of `device`, opened before the device is. Throws CountersUnavailable, for the host
/// too, and UsageError for a selection that names what does not exist. In a file of its own, so
/// that a test executable can link another answer.
[[nodiscard]] std::unique_ptr<CounterSource> open_device_counters(
    const DeviceRequest& device, const CounterSelection& selection);

}  // namespace strata
