// The CPU's constant-rate counter and the clock against which it is calibrated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace strata {

/// Seconds of CLOCK_MONOTONIC_RAW, which NTP does not adjust. Only differences are meaningful.
[[nodiscard]] double monotonic_raw_seconds() noexcept;

/// The counter, read in program order: everything before has finished, nothing after has begun.
/// About 30 cycles on x86-64. On CPUs other than x86-64 and aarch64: nanoseconds of the clock
/// above.
[[nodiscard]] inline std::uint64_t tsc_now() noexcept {
#if defined(__x86_64__)
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  // rdtscp waits for earlier instructions, but lets later ones begin early: the second fence
  // prevents that; the first is for stores and for CPUs whose rdtscp waits less than documented.
  // rcx receives the CPU number.
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

/// The rate of the counter and its uncertainty, from windows of 10 ms of CLOCK_MONOTONIC_RAW.
struct TscCalibration {
  double hertz = 0;            ///< median of the windows
  double relative_spread = 0;  ///< (largest - smallest) ÷ median
};

/// The calibration of this process, made on first use.
[[nodiscard]] const TscCalibration& tsc_calibration();

/// Ticks of tsc_now() per second.
[[nodiscard]] inline double tsc_hertz() {
  return tsc_calibration().hertz;
}

/// True if the counter's rate does not depend on the core's clock and sleep states.
[[nodiscard]] bool has_invariant_tsc() noexcept;

/// The clock of the calling thread's core against the counter, which does not follow it.
struct CorePace {
  double cycles_per_tick = 1;  ///< a dependent addition takes one cycle on every known CPU
  double multiplication = 1;   ///< cycles of a dependent one
};
/// By chains between registers, so that caches keep their contents. Takes about 15 µs.
[[nodiscard]] CorePace core_pace() noexcept;

/// The result of settling a clock.
struct Settled {
  bool steady = false;  ///< false: it still changed after the longest time
  double seconds = 0;   ///< how long it took
};
/// Repeats `piece`, which keeps a device busy and returns an array of rates, until all of them have
/// been within 1 % for `steady` seconds, for at most `longest` seconds.
template <class Piece>
Settled settle(double steady, double longest, const Piece& piece) {
  constexpr double bound = 0.01;
  const double began = monotonic_raw_seconds();
  double steady_since = began;
  double now = began;
  decltype(piece()) low{};
  decltype(piece()) high{};
  while (now - steady_since < steady && now - began < longest) {
    const double piece_began = now;
    const auto seen = piece();
    now = monotonic_raw_seconds();
    bool moved = false;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      low[i] = std::min(low[i], seen[i]);
      high[i] = std::max(high[i], seen[i]);
      moved = moved || low[i] <= 0 || high[i] > low[i] * (1 + bound);
    }
    if (!moved) continue;
    low = high = seen;  // this piece is the first of a new stretch
    steady_since = piece_began;
  }
  return {.steady = now - steady_since >= steady, .seconds = now - began};
}

}  // namespace strata
