// Reads the device's clocks in a kernel, and stores them as stamps (stamp.hpp). A reading is one
// instruction, in program order: the asm is volatile and clobbers memory, so the compiler moves no
// access across it.
#pragma once

#include "harness/measure/stamp.hpp"

#include <cstdint>

namespace strata {

/// This SM's 64-bit cycle counter. Wanted: CS2R R, SR_CLOCKLO (64 bit), 2 cycles apart; the 32-bit
/// %clock compiles to S2UR or CS2R.32, costs more and wraps after two seconds. The counters of two
/// SMs have no common origin: subtract only values of the same SM.
__device__ __forceinline__ std::uint64_t cycles_now() {
  std::uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles) : : "memory");
  return cycles;
}

/// Nanoseconds of a timer that all SMs share. It advances in steps (measure_global_timer_step), so
/// use it over at least a hundred steps. Wanted: one 64-bit read of SR_GLOBALTIMERLO.
__device__ __forceinline__ std::uint64_t global_nanoseconds() {
  std::uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds) : : "memory");
  return nanoseconds;
}

/// The number of the SM of this thread. Wanted: S2R R, SR_VIRTUALSMID.
__device__ __forceinline__ std::uint32_t sm_id() {
  std::uint32_t id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

/// Makes the next clock reading wait until `value` has arrived: a load only marks its register as
/// pending. Here a trap depends on the value, so issue stops until it is known, and the compiler
/// may not move another volatile instruction across a possible end of the kernel. An asm that only
/// names the value as an input, or an and with zero, is folded away by ptxas, and an L1 hit then
/// appears to take 3 cycles instead of 32. The value 2^32 - 1 must be impossible, because it ends
/// the kernel with a sticky error. Wanted: ISETP P, R, -1; @P BPT.TRAP.
__device__ __forceinline__ void consume(std::uint32_t value) {
  asm volatile(
      "{ .reg .pred impossible;\n\t"
      "setp.eq.u32 impossible, %0, 0xFFFFFFFF;\n\t"
      "@impossible trap; }"
      :
      : "r"(value)
      : "memory");
}

/// Both clocks.
struct Reading {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
};

/// The inner clock is read closest to the work.
__device__ __forceinline__ Reading reading_before() {
  Reading reading;
  reading.nanoseconds = global_nanoseconds();
  reading.cycles = cycles_now();
  return reading;
}
__device__ __forceinline__ Reading reading_after() {
  Reading reading;
  reading.cycles = cycles_now();
  reading.nanoseconds = global_nanoseconds();
  return reading;
}

/// Stores the stamp of one writer. Call it after the clock readings, because a store among the
/// accesses of other warps waits for room in their queue.
__device__ __forceinline__ void leave(Stamp* stamp, const Reading& begin, const Reading& end,
                                      std::uint64_t result) {
  stamp->cycles[0] = begin.cycles;
  stamp->cycles[1] = end.cycles;
  stamp->nanoseconds[0] = begin.nanoseconds;
  stamp->nanoseconds[1] = end.nanoseconds;
  stamp->result = result;
  stamp->core = sm_id();
}

/// Maximum number of SMs whose stamps can be merged.
inline constexpr std::uint32_t most_sms = 512;

/// Merges the results of one block into the stamp of its SM: first start, last end, sum of the
/// results, and the number of blocks as the tag. `stamps` has one element for each of most_sms,
/// indexed by SM.
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
