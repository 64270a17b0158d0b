// The facts of a GPU like an H200, for tests of what follows from a device.
#pragma once

#include "harness/record/device_facts.hpp"

namespace strata {

[[nodiscard]] inline GpuFacts example_gpu(std::uint32_t sms = 132) {
  return {.sms = sms,
          .compute_capability = "9.0",
          .major = 9,
          .minor = 0,
          .l2_bytes = std::uint64_t{60} << 20U,
          .memory_bytes = std::uint64_t{140} << 30U,
          .shared_per_sm = std::uint64_t{228} << 10U,
          .shared_per_block = std::uint64_t{227} << 10U,
          .core_clock_peak = 1.98e9,
          .dram_pin_bandwidth = 4.8e12,
          .l2_fetch_granularity = 64};
}

}  // namespace strata
