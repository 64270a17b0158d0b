// The device's two clocks, asked from the host: how coarse the global timer is, how fast the cores
// run, and when they hold that. All of it waits for `stream`.
#pragma once

#include "harness/cpu/tsc.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace strata {

/// Nanoseconds between two values of %globaltimer: the smallest difference in a row of distinct
/// values. Chips differ (32 and about 1000 are known), so it is measured and not remembered.
[[nodiscard]] std::uint64_t measure_global_timer_step(cudaStream_t stream);

/// Clock of the SMs in Hz as it is now: %clock64 over %globaltimer on one thread of each block,
/// over at least 100 steps of `step_nanoseconds`; the median of all SMs.
[[nodiscard]] double measure_sm_clock(cudaStream_t stream, std::uint64_t step_nanoseconds);

/// `hertz`: of the SMs over the last piece of work.
struct SettledClock : Settled {
  double hertz = 0;
};

/// Brings the SMs from their idle clock to the one that they hold under load: keeps every SM busy
/// with fused multiply-adds until the clock has held within 1 % for 50 ms, two seconds at most.
SettledClock settle_clock(cudaStream_t stream);

}  // namespace strata
