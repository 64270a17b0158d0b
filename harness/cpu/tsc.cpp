#include "harness/cpu/tsc.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace strata {
namespace {

/// The two clocks at one moment.
struct BothClocks {
  double ticks = 0;
  double seconds = 0;
};

/// Reads the counter before and after the clock, repeatedly, and keeps the shortest reading: an
/// interrupt in between would shift one relative to the other.
BothClocks stamp() {
  constexpr int tries = 16;
  BothClocks best;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < tries; ++i) {
    const std::uint64_t before = tsc_now();
    const double seconds = monotonic_raw_seconds();
    const std::uint64_t width = tsc_now() - before;
    if (width >= least) continue;
    least = width;
    best = {static_cast<double>(before) + static_cast<double>(width) / 2, seconds};
  }
  return best;
}

TscCalibration calibrate() {
  constexpr std::size_t windows = 7;
  constexpr double window_seconds = 0.01;
  std::array<double, windows> hertz{};
  BothClocks from = stamp();
  for (double& one : hertz) {
    while (monotonic_raw_seconds() - from.seconds < window_seconds) {
      // Spins, because a CPU that slept might wake with another clock.
    }
    const BothClocks to = stamp();
    one = (to.ticks - from.ticks) / (to.seconds - from.seconds);
    from = to;
  }
  std::ranges::sort(hertz);
  const double median = hertz[windows / 2];
  return {.hertz = median, .relative_spread = (hertz.back() - hertz.front()) / median};
}

}  // namespace

double monotonic_raw_seconds() noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

const TscCalibration& tsc_calibration() {
  static const TscCalibration calibration = calibrate();
  return calibration;
}

bool has_invariant_tsc() noexcept {
#if defined(__x86_64__)
  constexpr unsigned power_management = 0x80000007U;
  constexpr unsigned invariant_bit = 1U << 8U;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(power_management, &eax, &ebx, &ecx, &edx) != 0 && (edx & invariant_bit) != 0;
#else
  return true;  // aarch64's generic timer by its architecture, a clock elsewhere
#endif
}

}  // namespace strata
