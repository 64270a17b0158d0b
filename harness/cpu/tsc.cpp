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

constexpr int operations_of_turn = 64;
#if defined(__x86_64__)
#define STRATA_TURN(on_x86, elsewhere) ".rept 64\n\t" on_x86 " %[y], %[x]\n\t.endr"
#else
#define STRATA_TURN(on_x86, elsewhere) ".rept 64\n\t" elsewhere " %[x], %[x], %[y]\n\t.endr"
#endif

/// Dependent operations between registers: an addition of a small constant may be done during
/// renaming.
void add(int turns) noexcept {
  std::uint64_t x = 1;
  for (; turns > 0; --turns)
    asm volatile(STRATA_TURN("add", "add") : [x] "+r"(x) : [y] "r"(std::uint64_t{3}) : "cc");
}
void multiply(int turns) noexcept {
  std::uint64_t x = 1;
  for (; turns > 0; --turns)
    asm volatile(STRATA_TURN("imul", "mul") : [x] "+r"(x) : [y] "r"(std::uint64_t{3}) : "cc");
}
#undef STRATA_TURN

/// Ticks of one operation; the cost of reading the counter cancels. The minima of two tries: an
/// interrupt delays one, and the first fetches the code.
double ticks_of_operation(void (*chain)(int) noexcept, int turns) noexcept {
  constexpr int few = 8;
  const auto fastest = [&](int count) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < 2; ++i) {
      const std::uint64_t began = tsc_now();
      chain(count);
      least = std::min(least, tsc_now() - began);
    }
    return static_cast<double>(least);
  };
  const double brief = fastest(few);
  return (fastest(few + turns) - brief) / (turns * operations_of_turn);
}

}  // namespace

CorePace core_pace() noexcept {
  // The counter of some CPUs advances by tens of ticks at once: 0.3 % of a chain.
  constexpr int turns = 256;
  constexpr int turns_of_multiplications = 64;
  const double tick = ticks_of_operation(add, turns);
  return {.cycles_per_tick = 1 / tick,
          .multiplication = ticks_of_operation(multiply, turns_of_multiplications) / tick};
}

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
