// A term of the F-statistic: one signal's spectrum, as a template predicts it. For
// kernels and the host alike.
//
// LALSuite (ComputeFstat_Demod_ComputeFaFb.c) has e^(2πiλ) Σ X (s + ic) / (2π x) with s = sin 2πκ
// and c = cos 2πκ − 1, which loses all its digits near whole bins unless it is taken for
// −2 sin² πκ. Then s + ic = 2 sin πκ e^(−iπκ), and since λ = (k + κ)/2 − φ a term is
//
//   (−1)^k e^(−2πiφ) sin(πκ)/π Σ X_(k−7+l) / (κ + 7 − l), l from 0 to 15,
//
// where φ is the phase in cycles, some 10^9 of them: of double precision, or of fixed point. Every
// κ + 7 − l is rounded once, from κ itself: near a whole bin, sin πκ ÷ κ must be π.
#pragma once

#include "nbody/fstat/problem/elements.hpp"

#include <cmath>
#include <cstdint>

namespace strata::fstat {

/// The nearest whole number, of numbers below 2^51. Neither compiler takes the sum apart.
[[nodiscard]] STRATA_HD inline double nearest(double x) {
  constexpr double units_are_its_last_digit = 0x1.8p52;
  return (x + units_are_its_last_digit) - units_are_its_last_digit;
}

/// Position of a signal in a spectrum.
struct Arrival {
  std::uint32_t bin = 0;  ///< the first of its window, as an index of the spectrum
  float kappa = 0;        ///< of a bin, from the window's 8th on: from 0 to 1
  bool odd = false;       ///< the number of that 8th bin
};

inline constexpr float least_kappa = 0x1p-60F;  ///< one divides by it
inline constexpr float most_kappa = 1 - 0x1p-24F;
/// Of a number from 0 to 1, neither of which it becomes.
[[nodiscard]] STRATA_HD inline float kappa_of(float fraction) {
  return std::fmin(std::fmax(fraction, least_kappa), most_kappa);
}

/// Bins from the beginning of a spectrum at which the signal arrives.
[[nodiscard]] STRATA_HD inline double bins_at(const Grid& grid, double frequency, double spin,
                                              const Timing& timing) {
  return (frequency + spin * timing.delta) * (grid.seconds * timing.rate) - grid.first_bin;
}
/// `bins` of any grid that check() lets pass are above 7.
[[nodiscard]] STRATA_HD inline Arrival arrival_at(const Grid& grid, double bins) {
  const auto eighth = static_cast<std::uint32_t>(static_cast<std::int32_t>(bins));
  return {.bin = eighth - (half_window - 1),
          .kappa = static_cast<float>(bins - eighth),
          .odd = (eighth + grid.first_bin) % 2 == 1};
}

/// The phase in cycles, to 2^-40 of one, without most of the whole ones: the product's own rounding
/// would be 2^-23 of a cycle.
[[nodiscard]] STRATA_HD inline double cycles_at(double frequency, double spin, double delta) {
  const double product = frequency * delta;
  const double rest = std::fma(frequency, delta, -product);
  const double bent = 0.5 * spin * delta * delta;
  return ((product - nearest(product)) + rest) + (bent - nearest(bent));
}

/// sin(πκ)/π for κ from 0 to 1, to some roundings of itself near both ends.
template <class Real>
[[nodiscard]] STRATA_HD inline Real sine_over_pi(const Real& kappa) {
  const Real rest = 1 - kappa;
  const Real x = kappa < rest ? kappa : rest;
  const Real s = x * x;
  // 1 + s q(s) is right to 6·10^-9 of itself for x up to 1/2.
  const Real q = -1.64493336F + s * (0.81171641F + s * (-0.19044738F + s * 0.02472503F));
  return x + x * (s * q);
}

/// cos 2πc and sin 2πc.
template <class Real>
struct Turn {
  Real cosine;
  Real sine;
};
/// For c from −1/2 to 1/2, to some roundings of 1.
template <class Real>
[[nodiscard]] STRATA_HD inline Turn<Real> turn_of(const Real& c) {
  constexpr float units_are_its_last_digit = 0x1.8p23F;
  const Real half_turns = (2 * c + units_are_its_last_digit) - units_are_its_last_digit;
  const Real sign = 1 - 2 * half_turns * half_turns;
  const Real t = c - 0.5F * half_turns;  // −1/4 to 1/4
  const Real s = t * t;
  const Real sine = 6.28318516F + s * (-41.34165503F +
                                       s * (81.60100407F + s * (-76.54978229F + s * 39.53670602F)));
  const Real cosine =
      -19.73920862F +
      s * (64.9393536F + s * (-85.45383071F + s * (60.14820493F + s * -25.00679655F)));
  return {.cosine = sign * (1 + s * cosine), .sine = sign * t * sine};
}

[[nodiscard]] STRATA_HD inline float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float y = 0;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));  // to the last place, in one instruction
  return y;
#else
  return 1 / x;
#endif
}

[[nodiscard]] STRATA_HD inline Bin bin_at(const Bin* bin) {
#if defined(__CUDA_ARCH__)
  const float2 both = __ldg(reinterpret_cast<const float2*>(bin));  // of global memory, in one load
  return {.re = both.x, .im = both.y};
#else
  return *bin;
#endif
}

/// Σ X_l / (κ + 7 − l) over the window that begins at `bins`, where so many bins share a
/// reciprocal: Σ X_i / x_i = Σ X_i Π x_j / Π x_j, j ≠ i above, added up bin by bin (Fekete Akos,
/// LALSuite's ComputeFstat_DemodHL_OptC.i, for all 16).
template <std::uint32_t group>
struct Weighted {
  STRATA_HD Bin operator()(const Bin* bins, float kappa) const {
    Bin sum;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (std::uint32_t first = 0; first < window; first += group) {
      Bin numerator = bin_at(bins + first);
      float denominator = from_bin(kappa, first);
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (std::uint32_t l = first + 1; l < first + group; ++l) {
        const float x = from_bin(kappa, l);
        const Bin next = bin_at(bins + l);
        numerator.re = x * numerator.re + denominator * next.re;
        numerator.im = x * numerator.im + denominator * next.im;
        denominator *= x;
      }
      const float weight = reciprocal(denominator);
      sum.re += weight * numerator.re;
      sum.im += weight * numerator.im;
    }
    return sum;
  }

 private:
  STRATA_HD static float from_bin(float kappa, std::uint32_t l) {
    return kappa + (static_cast<float>(half_window) - 1 - static_cast<float>(l));
  }
};

/// Adds a term: e^(−2πi cycles) × sine × sum, once for each polarisation.
template <class Real, class Sum>
STRATA_HD inline void add(Sum& to, const Real& re, const Real& im, const Real& sine,
                          const Turn<Real>& turn, const Antenna& antenna) {
  const Real term_re = sine * (turn.cosine * re + turn.sine * im);
  const Real term_im = sine * (turn.cosine * im - turn.sine * re);
  to.a_re += antenna.a * term_re;
  to.a_im += antenna.a * term_im;
  to.b_re += antenna.b * term_re;
  to.b_im += antenna.b * term_im;
}

/// The same for one number; on a GPU by its special functions, to 2^-21 of 1.
[[nodiscard]] STRATA_HD inline Turn<float> turn_by(float c) {
#if defined(__CUDA_ARCH__)
  Turn<float> turn{};
  __sincosf(6.28318531F * c, &turn.sine, &turn.cosine);
  return turn;
#else
  return turn_of(c);
#endif
}

/// Adds the term of a signal that arrives there, in this phase: `cycles` from −1/2 to 1/2.
template <class Weigh>
STRATA_HD inline void add_arrival(Sums& to, const Bin* spectrum, const Arrival& arrival,
                                  float cycles, const Antenna& antenna, const Weigh& weigh) {
  const float kappa = kappa_of(arrival.kappa);
  const Bin sum = weigh(spectrum + arrival.bin, kappa);
  const float sine = sine_over_pi(kappa);
  add(to, sum.re, sum.im, arrival.odd ? -sine : sine, turn_by(cycles), antenna);
}
/// Adds the term of a signal, its phase in double precision.
template <class Weigh = Weighted<1>>
STRATA_HD inline void add_signal(Sums& to, const Bin* spectrum, const Grid& grid,
                                 const Timing& timing, const Antenna& antenna, double frequency,
                                 double spin, const Weigh& weigh = {}) {
  const double cycles = cycles_at(frequency, spin, timing.delta);
  add_arrival(to, spectrum, arrival_at(grid, bins_at(grid, frequency, spin, timing)),
              static_cast<float>(cycles - nearest(cycles)), antenna, weigh);
}

}  // namespace strata::fstat
