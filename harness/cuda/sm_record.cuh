// What the blocks of a launch that fills the chip leave behind, by SM: from the first start to the
// last end, and the sum of what they read.
#pragma once

#include "harness/cuda/clock.cuh"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace strata::sm_record {

struct SmRecord {
  unsigned long long first_cycle;
  unsigned long long first_nanosecond;
  unsigned long long last_cycle;
  unsigned long long last_nanosecond;
  std::uint32_t sum;
  std::uint32_t blocks;
};
inline constexpr std::uint32_t most_sms = 512;

/// What a record holds before any block has come.
inline constexpr SmRecord blank{~0ULL, ~0ULL, 0, 0, 0, 0};

/// Readings of both clocks.
struct Stamp {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
};

/// One thread of a block leaves what its block did.
__device__ __forceinline__ void leave(SmRecord* records, const Stamp& begin, const Stamp& end,
                                      std::uint32_t sum) {
  const std::uint32_t sm = sm_id();
  if (sm >= most_sms) __trap();
  SmRecord& mine = records[sm];
  atomicMin(&mine.first_cycle, static_cast<unsigned long long>(begin.cycles));
  atomicMin(&mine.first_nanosecond, static_cast<unsigned long long>(begin.nanoseconds));
  atomicMax(&mine.last_cycle, static_cast<unsigned long long>(end.cycles));
  atomicMax(&mine.last_nanosecond, static_cast<unsigned long long>(end.nanoseconds));
  atomicAdd(&mine.sum, sum);
  atomicAdd(&mine.blocks, 1U);
}

/// One launch.
struct Run {
  double seconds = 0;  ///< by the timer outside
  double cycles = 0;   ///< of the slowest SM, from its first block's start to its last one's end
  double hertz = 0;
};

/// Throws std::runtime_error when no block left a record.
[[nodiscard]] inline Run run_of(std::span<const SmRecord> records, double seconds) {
  Run seen{.seconds = seconds};
  std::vector<double> hertz;
  for (const SmRecord& r : records) {
    if (r.blocks == 0) continue;
    const auto cycles = static_cast<double>(r.last_cycle - r.first_cycle);
    seen.cycles = std::max(seen.cycles, cycles);
    hertz.push_back(cycles / (static_cast<double>(r.last_nanosecond - r.first_nanosecond) * 1e-9));
  }
  if (hertz.empty()) throw std::runtime_error{"no block of the launch left a record"};
  seen.hertz = median(hertz);
  return seen;
}

[[nodiscard]] inline std::uint32_t sum_of(std::span<const SmRecord> records) {
  std::uint32_t sum = 0;
  for (const SmRecord& r : records)
    sum += r.sum;
  return sum;
}

}  // namespace strata::sm_record
