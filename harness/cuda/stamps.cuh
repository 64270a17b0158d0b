// Reading the device's clocks from a kernel, and what it leaves behind of them (stamp.hpp). A
// reading is one instruction, in the order written: the asm is volatile and clobbers memory, so the
// compiler moves no access across it.
#pragma once

#include "harness/measure/stamp.hpp"

#include <cstdint>

namespace strata {

/// This SM's cycle counter, all 64 bits. Wanted: CS2R R, SR_CLOCKLO (64 bit), 2 cycles between two
/// of them; the 32-bit %clock compiles to S2UR or CS2R.32, costs more and wraps after two seconds.
/// The counters of two SMs have no common origin: subtract only values that one SM gave.
__device__ __forceinline__ std::uint64_t cycles_now() {
  std::uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles) : : "memory");
  return cycles;
}

/// Nanoseconds of a timer that all SMs share. It moves in steps (measure_global_timer_step): take
/// it over a hundred steps or more. Wanted: one 64-bit read of SR_GLOBALTIMERLO.
__device__ __forceinline__ std::uint64_t global_nanoseconds() {
  std::uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds) : : "memory");
  return nanoseconds;
}

/// The SM that this thread runs on. Wanted: S2R R, SR_VIRTUALSMID.
__device__ __forceinline__ std::uint32_t sm_id() {
  std::uint32_t id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

/// Makes the clock read that follows wait until `value` is there: a load only marks its register as
/// pending. Here a trap hangs on the value, so issue stops until it is known, and neither compiler
/// may move another volatile instruction across what may end the kernel. An asm that only names the
/// value as an input, or an and with zero, is folded away by ptxas and leaves an L1 hit at 3 cycles
/// instead of 32. The value 2^32 - 1 must be impossible: the kernel ends with a sticky error when
/// it comes. Wanted: ISETP P, R, -1; @P BPT.TRAP.
__device__ __forceinline__ void consume(std::uint32_t value) {
  asm volatile(
      "{ .reg .pred impossible;\n\t"
      "setp.eq.u32 impossible, %0, 0xFFFFFFFF;\n\t"
      "@impossible trap; }"
      :
      : "r"(value)
      : "memory");
}

/// Both clocks at once.
struct Reading {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
};

/// The inner clock is nearest to the work.
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
