// Where a signal arrives and in which phase, in fixed point: from the first frequency on both grow
// by as much with each. For kernels and the host alike.
#pragma once

#include "nbody/fstat/terms.hpp"

#include <cstdint>

namespace strata::fstat {

/// How much both grow with each frequency, in units of 2^-32 bins and of 2^-32 cycles, whole cycles
/// left out.
struct FixedStep {
  std::uint32_t bins = 0;
  std::uint32_t cycles = 0;
};
/// At the first frequency.
struct alignas(16) FixedStart {
  std::uint64_t bins = 0;  ///< from the spectrum's beginning on
  std::uint32_t cycles = 0;
};
/// At any.
struct FixedArrival {
  Arrival arrival;
  float cycles = 0;  ///< from −1/2 to 1/2
};

inline constexpr double fixed_unit = 0x1p-32;

/// Without whole cycles; a remainder of 1/2 becomes −1/2.
[[nodiscard]] STRATA_HD inline std::uint32_t fixed_cycles(double cycles) {
  return static_cast<std::uint32_t>(
      static_cast<std::int64_t>(nearest((cycles - nearest(cycles)) / fixed_unit)));
}
[[nodiscard]] STRATA_HD inline FixedStep fixed_step(const Grid& grid, const Timing& timing) {
  const double bins = grid.frequency_step * (grid.seconds * timing.rate);
  return {.bins = static_cast<std::uint32_t>(nearest(bins / fixed_unit)),
          .cycles = fixed_cycles(grid.frequency_step * timing.delta)};
}
[[nodiscard]] STRATA_HD inline FixedStart fixed_start(const Grid& grid, double spin,
                                                      const Timing& timing) {
  return {.bins = static_cast<std::uint64_t>(bins_at(grid, grid.first_frequency, spin, timing) /
                                             fixed_unit),
          .cycles = fixed_cycles(cycles_at(grid.first_frequency, spin, timing.delta))};
}
/// At frequency j: to j units of 2^-33 for the steps' rounding.
[[nodiscard]] STRATA_HD inline FixedArrival fixed_arrival(const Grid& grid, const FixedStart& start,
                                                          const FixedStep& step, std::uint32_t j) {
  const std::uint64_t bins = start.bins + std::uint64_t{step.bins} * j;
  const auto eighth = static_cast<std::uint32_t>(bins >> 32U);
  const auto cycles = static_cast<std::int32_t>(start.cycles + step.cycles * j);
  constexpr auto unit = static_cast<float>(fixed_unit);
  return {.arrival = {.bin = eighth - (half_window - 1),
                      .kappa = static_cast<float>(static_cast<std::uint32_t>(bins)) * unit,
                      .odd = (eighth + grid.first_bin) % 2 == 1},
          .cycles = static_cast<float>(cycles) * unit};
}

}  // namespace strata::fstat
