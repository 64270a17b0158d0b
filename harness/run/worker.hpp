// The process that uses the device. It reads its job on stdin, answers on descriptor 3, and dies
// with its parent.
#pragma once

#include "harness/counters/counters.hpp"
#include "harness/record/device.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace strata {

/// Runs the cases of the job on stdin: times them, without ever loading a profiler, counts
/// `counted`, or, if `traced`, records what ran when. Returns the exit status of the process.
[[nodiscard]] int run_job(const DeviceRequest& request,
                          const std::optional<CounterSelection>& counted, bool traced);

/// Reports the device and, if `selection` is not empty, whether that can be counted on it. Returns
/// the exit status of the process.
[[nodiscard]] int answer_probe(const DeviceRequest& request, const CounterSelection& selection);

/// Why the host has no counts.
inline constexpr std::string_view host_has_no_counters =
    "hardware counters are available on GPUs only, and this device is the CPU";

/// The counters of `device`, opened before the device is. Throws CountersUnavailable, also for the
/// host, and UsageError for a selection with unknown names. In a separate object file, so that a
/// test executable can link another implementation.
[[nodiscard]] std::unique_ptr<CounterSource> open_device_counters(
    const DeviceRequest& device, const CounterSelection& selection);

}  // namespace strata
