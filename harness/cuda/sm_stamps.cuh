// A stamp of every SM before and after the work of many launches, for stamped_steps().
#pragma once

#include "harness/cuda/stamps.cuh"

namespace strata {
namespace {

/// Every SM that runs one of these blocks stores both clocks as this mark of its stamp. Each file
/// that launches it has its own kernel, so that the file's contract covers it.
__global__ void stamp(Stamp* stamps, unsigned mark) {
  const std::uint32_t sm = sm_id();
  if (sm >= most_sms) __trap();
  const Reading now = reading_after();
  stamps[sm].cycles[mark] = now.cycles;
  stamps[sm].nanoseconds[mark] = now.nanoseconds;
  stamps[sm].core = sm;
  stamps[sm].tag = 1;
}

}  // namespace
}  // namespace strata
