// The CPU's constant-rate counter and the clock that it is calibrated against.
#pragma once

#include <cstdint>
#include <ctime>

namespace strata {

/// Seconds of CLOCK_MONOTONIC_RAW: not steered by NTP. Only differences mean something.
[[nodiscard]] double monotonic_raw_seconds() noexcept;

/// The counter, read in its place: all that comes before has finished, nothing after has begun.
/// About 30 cycles on x86-64. Elsewhere than on x86-64 and aarch64: nanoseconds of the clock above.
[[nodiscard]] inline std::uint64_t tsc_now() noexcept {
#if defined(__x86_64__)
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  // rdtscp waits for what is before it, but lets what follows begin early: the second fence is for
  // that, the first for stores and for CPUs whose rdtscp waits less than promised. rcx receives the
  // CPU number.
  asm volatile("lfence\n\trdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "rcx", "memory");
  return (static_cast<std::uint64_t>(high) << 32U) | low;
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
  return ticks;
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

/// How fast the counter ticks, and how sure that is, from windows of 10 ms of CLOCK_MONOTONIC_RAW.
struct TscCalibration {
  double hertz = 0;            ///< median of the windows
  double relative_spread = 0;  ///< (largest - smallest) ÷ median
};

/// The calibration of this process, made when first asked for.
[[nodiscard]] const TscCalibration& tsc_calibration();

/// Ticks of tsc_now() a second.
[[nodiscard]] inline double tsc_hertz() {
  return tsc_calibration().hertz;
}

/// True when the counter ticks at one rate whatever the core's clock and sleep states are.
[[nodiscard]] bool has_invariant_tsc() noexcept;

}  // namespace strata
