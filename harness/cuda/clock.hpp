// The device's two clocks, measured from the host: the step of the global timer, the clock of the
// cores, and when it is stable. Everything waits for `stream`.
#pragma once

#include "harness/cpu/tsc.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace strata {

/// Step of %globaltimer in nanoseconds: the smallest difference in a series of distinct values.
/// Chips differ (32 and about 1000 are known), so it is measured.
[[nodiscard]] std::uint64_t measure_global_timer_step(cudaStream_t stream);

/// Present clock of the SMs in Hz: %clock64 over %globaltimer in one thread of each block, over at
/// least 100 steps of `step_nanoseconds`; the median over all SMs.
[[nodiscard]] double measure_sm_clock(cudaStream_t stream, std::uint64_t step_nanoseconds);

/// `hertz`: clock of the SMs over the last piece of work.
struct SettledClock : Settled {
  double hertz = 0;
};

/// Brings the SMs from their idle clock to their clock under load: keeps every SM busy with fused
/// multiply-adds until the clock has been within 1 % for 50 ms, for at most two seconds.
SettledClock settle_clock(cudaStream_t stream);

}  // namespace strata
