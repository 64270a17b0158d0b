// The process that touches the device. It reads its orders on stdin, answers on descriptor 3, and
// dies with its parent.
#pragma once

#include "harness/core/device.hpp"

namespace strata {

/// Measures the cases of the job on stdin. Returns the exit status of the process.
[[nodiscard]] int work(const DeviceRequest& request);

/// Says what the device is, and nothing else. Returns the exit status of the process.
[[nodiscard]] int answer_probe(const DeviceRequest& request);

}  // namespace strata
