// Typed facts of a device: the only place that looks facts up by name.
#pragma once

#include "harness/record/measurement.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace strata {

/// Sizes in bytes.
struct GpuFacts {
  unsigned sms = 0;
  std::string compute_capability;  ///< "9.0"
  int major = 0;
  int minor = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t shared_per_sm = 0;
  std::uint64_t shared_per_block = 0;        ///< maximum after opting in
  std::optional<double> core_clock_peak;     ///< Hz
  std::optional<double> dram_pin_bandwidth;  ///< B/s
  std::optional<std::uint64_t> l2_fetch_granularity;
};
/// Throws Skipped naming a fact that the device does not report.
[[nodiscard]] GpuFacts gpu_facts(const Facts& facts);

/// Sizes in bytes; absent if the system does not report them.
struct CpuFacts {
  std::optional<std::uint64_t> l1_bytes;  ///< data
  std::optional<std::uint64_t> l2_bytes;
  std::optional<std::uint64_t> l3_bytes;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> line_bytes;
  /// How the measured cores share the caches of a level.
  struct Sharing {
    std::uint64_t most = 1;    ///< cores that share one cache, at most
    std::uint64_t caches = 1;  ///< that the cores have together
  };
  std::uint64_t cores = 1;
  Sharing l1, l2, l3;
};
/// A level whose sharing is unknown is private, but L3 is one for all.
[[nodiscard]] CpuFacts cpu_facts(const Facts& facts);

/// The size called `name` ("l2_bytes"). Throws Skipped if the system does not report it.
[[nodiscard]] std::uint64_t need(const std::optional<std::uint64_t>& bytes, const char* name);

}  // namespace strata
