// The process that touches the device. It reads its orders on stdin, answers on descriptor 3, and
// dies with its parent.
#pragma once

#include "harness/counters/counters.hpp"
#include "harness/record/device.hpp"

#include <optional>

namespace strata {

/// Runs the cases of the job on stdin: times them, without ever loading a profiler, or counts what
/// is `counted`. Returns the exit status of the process.
[[nodiscard]] int run_job(const DeviceRequest& request,
                          const std::optional<CounterSelection>& counted);

/// Says what the device is and, when `selection` names something, whether that can be counted on
/// it. Returns the exit status of the process.
[[nodiscard]] int answer_probe(const DeviceRequest& request, const CounterSelection& selection);

}  // namespace strata
