// Brings the GPU from its idle clock to the clock that it holds under load.
#pragma once

#include <cuda_runtime_api.h>

namespace strata {

/// What settling came to.
struct SettledClock {
  double hertz = 0;     ///< of the SMs over the last piece of work
  bool steady = false;  ///< held within 1 % for 50 ms; false: it still moved after two seconds
  double seconds = 0;   ///< how long it took
};

/// Keeps every SM busy with fused multiply-adds until the clock holds still. Waits for `stream`.
SettledClock settle_clock(cudaStream_t stream);

}  // namespace strata
