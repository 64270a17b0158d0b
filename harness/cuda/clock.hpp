// The device's two clocks, asked from the host: how coarse the global timer is, how fast the cores
// run.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace strata {

/// Nanoseconds between two values of %globaltimer: the smallest difference in a row of distinct
/// values. Chips differ (32 and about 1000 are known), so it is measured and not remembered. Waits
/// for `stream`.
[[nodiscard]] std::uint64_t measure_global_timer_step(cudaStream_t stream);

/// Clock of the SMs in Hz as it is now: %clock64 over %globaltimer on one thread of each block,
/// over at least 100 steps of `step_nanoseconds`; the median of all SMs. Waits for `stream`.
[[nodiscard]] double measure_sm_clock(cudaStream_t stream, std::uint64_t step_nanoseconds);

/// The same, with the step measured first.
[[nodiscard]] double measure_sm_clock(cudaStream_t stream);

}  // namespace strata
