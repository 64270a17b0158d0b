// What kernels leave behind of their clocks: see harness/measure/stamp.hpp.
#pragma once

#include "harness/cuda/clock.cuh"
#include "harness/measure/stamp.hpp"

#include <cstdint>

namespace strata {

/// Both clocks at once.
struct Reading {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
};

/// The inner clock last: it is nearest to the work.
__device__ __forceinline__ Reading reading_before() {
  Reading reading;
  reading.nanoseconds = global_nanoseconds();
  reading.cycles = cycles_now();
  return reading;
}
/// The inner clock first.
__device__ __forceinline__ Reading reading_after() {
  Reading reading;
  reading.cycles = cycles_now();
  reading.nanoseconds = global_nanoseconds();
  return reading;
}

/// Stores a stamp of one writer. After the clocks: a store among the accesses of others waits for
/// room in their queue.
__device__ __forceinline__ void leave(Stamp* stamp, const Reading& begin, const Reading& end,
                                      std::uint64_t result) {
  stamp->cycles[0] = begin.cycles;
  stamp->cycles[1] = end.cycles;
  stamp->nanoseconds[0] = begin.nanoseconds;
  stamp->nanoseconds[1] = end.nanoseconds;
  stamp->result = result;
  stamp->core = sm_id();
}

/// SMs that stamps can be merged for.
inline constexpr std::uint32_t most_sms = 512;

/// Merges what one block did into the stamp of its SM: from the first start to the last end, the
/// sum of the results, the number of blocks as the tag. `stamps` has one for each of most_sms, and
/// its place says which SM it is of.
__device__ __forceinline__ void merge(Stamp* stamps, const Reading& begin, const Reading& end,
                                      std::uint32_t result) {
  const std::uint32_t sm = sm_id();
  if (sm >= most_sms) __trap();
  Stamp& mine = stamps[sm];
  const auto word = [](std::uint64_t& at) { return reinterpret_cast<unsigned long long*>(&at); };
  atomicMin(word(mine.cycles[0]), static_cast<unsigned long long>(begin.cycles));
  atomicMin(word(mine.nanoseconds[0]), static_cast<unsigned long long>(begin.nanoseconds));
  atomicMax(word(mine.cycles[1]), static_cast<unsigned long long>(end.cycles));
  atomicMax(word(mine.nanoseconds[1]), static_cast<unsigned long long>(end.nanoseconds));
  atomicAdd(word(mine.result), static_cast<unsigned long long>(result));
  atomicAdd(&mine.tag, 1U);
}

}  // namespace strata
