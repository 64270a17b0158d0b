// The process that touches the device. It reads its orders on stdin, answers on descriptor 3, and
// dies with its parent.
#pragma once

#include "harness/counters/counters.hpp"
#include "harness/record/device.hpp"

namespace strata {

/// Times the cases of the job on stdin, and never loads a profiler. Returns the exit status of the
/// process.
[[nodiscard]] int time_cases(const DeviceRequest& request);

/// Counts the cases of the job on stdin. Returns the exit status of the process.
[[nodiscard]] int count_cases(const DeviceRequest& request, const CounterSelection& selection);

/// Says what the device is and, when `selection` names something, whether that can be counted on
/// it. Returns the exit status of the process.
[[nodiscard]] int answer_probe(const DeviceRequest& request, const CounterSelection& selection);

}  // namespace strata
