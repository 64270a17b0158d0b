// Frequencies side by side: each lane of a vector has one of them, and all lanes the same signal.
// In AVX2 and in AVX-512. Host only.
#pragma once

#include "harness/cpu/floats.hpp"
#include "nbody/fstat/host/host_rung.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace strata::fstat {

/// Sums of the lanes.
template <unsigned lanes>
struct LaneSums {
  Floats<lanes> a_re{};
  Floats<lanes> a_im{};
  Floats<lanes> b_re{};
  Floats<lanes> b_im{};
};
template <unsigned lanes>
using Words = VectorOf<std::uint32_t, lanes>;
template <unsigned lanes>
using Integers = VectorOf<std::int32_t, lanes>;

/// The frequencies of a vector: `count` of them, from `first` on. Lanes behind them have the last.
template <unsigned lanes>
struct Frequencies {
  double first = 0;
  std::uint32_t count = lanes;
  Integers<lanes> steps;  ///< of each lane, from the first on

  [[STRATA_INLINE]] Frequencies(const Band& band, std::uint32_t from)
      : first{band.grid->frequency(from)}, count{std::min(band.frequencies - from, lanes)} {
    for (unsigned i = 0; i < lanes; ++i)
      steps[i] = static_cast<std::int32_t>(std::min(i, count - 1));
  }
};

/// Position of a signal for each lane: at most one bin after it does for the first lane.
template <unsigned lanes>
struct Arrivals {
  Floats<lanes> kappa;    ///< from each lane's own window's 8th bin on
  Integers<lanes> later;  ///< all bits of the lanes whose window begins a bin later
  std::uint32_t bin;      ///< the first lane's
  bool split;             ///< there are such lanes
  bool odd;               ///< the first lane's 8th bin

  [[STRATA_INLINE]] Arrivals(const Band& band, const Frequencies<lanes>& all,
                             const Timing& timing) {
    const Grid& grid = *band.grid;
    const double bins = bins_at(grid, all.first, band.spin, timing);
    const auto eighth = static_cast<std::uint32_t>(static_cast<std::int32_t>(bins));
    const auto step = static_cast<float>(grid.frequency_step * grid.seconds * timing.rate);
    const Floats<lanes> from = static_cast<float>(bins - eighth) +
                               step * __builtin_convertvector(all.steps, Floats<lanes>);
    bin = eighth - (half_window - 1);
    odd = (eighth + grid.first_bin) % 2 == 1;
    later = from >= 1.0F;
    split = !(from[lanes - 1] < 1.0F);
    kappa = later ? from - 1 : from;
    kappa = kappa > least_kappa ? kappa : Floats<lanes>{} + least_kappa;
    kappa = kappa < most_kappa ? kappa : Floats<lanes>{} + most_kappa;
  }
  /// Σ X_l / (κ + 7 − l), by reciprocals of `weigh`.
  template <class Weigh>
  [[STRATA_INLINE]] void sum(const Bin* spectrum, Floats<lanes>& re, Floats<lanes>& im,
                             const Weigh& weigh) const {
    const Bin* const bins = spectrum + bin;
    re = im = Floats<lanes>{};
    const auto add_bin = [&](unsigned l, const Floats<lanes>& weight)
        __attribute__((always_inline)) {
      re += bins[l].re * weight;
      im += bins[l].im * weight;
    };
    if (!split) {
#pragma GCC unroll 16
      for (unsigned l = 0; l < window; ++l)
        add_bin(l, weigh(kappa + (7.0F - static_cast<float>(l))));
      return;
    }
    // 17 bins, of which every lane skips the first or the last.
    const Floats<lanes> none{};
    const Floats<lanes> eighth = later ? none + 8.0F : none + 7.0F;
    add_bin(0, later ? none : weigh(kappa + eighth));
    for (unsigned l = 1; l < window; ++l)
      add_bin(l, weigh(kappa + (eighth - static_cast<float>(l))));
    add_bin(window, later ? weigh(kappa + (eighth - 16.0F)) : none);
  }
};

/// e^(2πi cycles) of each lane: from the first lane on in fixed point, of 2^-32 cycles.
template <unsigned lanes>
[[STRATA_INLINE]] inline Turn<Floats<lanes>> turns(const Band& band, const Frequencies<lanes>& all,
                                                   const Timing& timing) {
  constexpr double units = 0x1p32;
  const auto fixed = [](double cycles) {
    return static_cast<std::uint32_t>(
        static_cast<std::int64_t>((cycles - nearest(cycles)) * units));
  };
  const std::uint32_t first = fixed(cycles_at(all.first, band.spin, timing.delta));
  const std::uint32_t step = fixed(band.grid->frequency_step * timing.delta);
  const Words<lanes> fraction = first + step * __builtin_convertvector(all.steps, Words<lanes>);
  return turn_of<Floats<lanes>>(
      __builtin_convertvector(__builtin_convertvector(fraction, Integers<lanes>), Floats<lanes>) *
      0x1p-32F);
}

/// Stores the sums of a vector of frequencies, from `first` on.
template <unsigned lanes>
[[STRATA_INLINE]] inline void put(const Band& band, std::uint32_t first, std::uint32_t count,
                                  const LaneSums<lanes>& sums) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const Sums one{sums.a_re[i], sums.a_im[i], sums.b_re[i], sums.b_im[i]};
    band.sums[first + i] = one;
    band.two_f[first + i] = two_f(one, band.matrix);
  }
}

/// Calls one_signal(sums, frequencies, spectrum, timing, antenna) for every signal and every vector
/// of frequencies of a band.
template <unsigned lanes, class OneSignal>
[[STRATA_INLINE]] inline void visit_signals(const Band& band, const OneSignal& one_signal) {
  for (std::uint32_t first = 0; first < band.frequencies; first += lanes) {
    const Frequencies<lanes> all{band, first};
    LaneSums<lanes> sums;
    for (std::uint32_t d = 0; d < band.detectors; ++d) {
      const Signals& of = band.groups[d];
      for (std::uint32_t s = 0; s < of.count; ++s)
        one_signal(sums, all, of.spectra[s], of.timings[s], of.antennas[s]);
    }
    put<lanes>(band, first, all.count, sums);
  }
}

/// Every bin by a reciprocal of `Weigh`.
template <class Weigh>
struct LanesBand {
  template <unsigned lanes>
  [[STRATA_INLINE]] static void run(const Band& band) {
    visit_signals<lanes>(
        band, [&](LaneSums<lanes> & sums, const Frequencies<lanes>& all, const Bin* spectrum,
                  const Timing& timing, const Antenna& antenna) __attribute__((always_inline)) {
          const Arrivals<lanes> arrivals{band, all, timing};
          Floats<lanes> re;
          Floats<lanes> im;
          arrivals.sum(spectrum, re, im, Weigh{});
          Floats<lanes> sine = sine_over_pi(arrivals.kappa);
          if (arrivals.odd) sine = -sine;
          sine = arrivals.later ? -sine : sine;
          add(sums, re, im, sine, turns<lanes>(band, all, timing), antenna);
        });
  }
};

/// A rung that packs each sky point and shares its bands out among all cores.
template <class Kernel>
[[nodiscard]] HostKernel vector_bands(const Observation& seen, Vectors have) {
  HostKernel kernel = packed_bands(
      seen,
      [](ThreadTeam& team, std::size_t count, const auto& visit) {
        (void)team.run([&](std::size_t rank) {
          const auto [first, last] = ThreadRank{.rank = rank, .size = team.size()}.share(count);
          visit(first, last);
        });
      },
      kernel_for<Kernel, const Band&>(have));
  kernel.instructions = to_string(have);
  return kernel;
}

}  // namespace strata::fstat
