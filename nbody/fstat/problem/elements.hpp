// What the vectors of an observation consist of, as kernels and the host read them, and what is
// computed of them.
#pragma once

#include "harness/model/host_device.hpp"

#include <cstdint>

namespace strata::fstat {

/// Bins of a spectrum that a term sums over: 8 to each side of the frequency at which the signal
/// arrives (LALSuite's Dterms = 8).
inline constexpr std::uint32_t window = 16;
inline constexpr std::uint32_t half_window = window / 2;

/// A complex number of a spectrum.
struct alignas(8) Bin {
  float re = 0;
  float im = 0;
  bool operator==(const Bin&) const = default;
};

/// When the middle of a spectrum's stretch of time arrives at the solar system's barycentre from a
/// sky point.
struct alignas(16) Timing {
  double delta = 0;  ///< seconds after the reference time: LALSuite's ΔT
  double rate = 0;   ///< seconds there for a second of the detector's clock: Ṫ
  bool operator==(const Timing&) const = default;
};

/// Response of a detector to a sky point's two polarisations meanwhile.
struct alignas(8) Antenna {
  float a = 0;
  float b = 0;
  bool operator==(const Antenna&) const = default;
};

/// Sums over the signals of all detectors: of a², of b² and of ab, and 1/(Σa² Σb² − (Σab)²).
struct alignas(16) Matrix {
  float a = 0;
  float b = 0;
  float ab = 0;
  float inverse = 0;
};

/// Fa and Fb of a template.
struct alignas(16) Sums {
  float a_re = 0;
  float a_im = 0;
  float b_re = 0;
  float b_im = 0;
};
[[nodiscard]] STRATA_HD inline Sums operator+(const Sums& x, const Sums& y) {
  return {x.a_re + y.a_re, x.a_im + y.a_im, x.b_re + y.b_re, x.b_im + y.b_im};
}

/// 2F = 2/D (B|Fa|² + A|Fb|² − 2C Re Fa Fb*) (Cutler and Schutz, Phys. Rev. D 72, 063006, 2005).
[[nodiscard]] STRATA_HD inline float two_f(const Sums& f, const Matrix& m) {
  const float aa = f.a_re * f.a_re + f.a_im * f.a_im;
  const float bb = f.b_re * f.b_re + f.b_im * f.b_im;
  const float ab = f.a_re * f.b_re + f.a_im * f.b_im;
  return 2 * m.inverse * (m.b * aa + m.a * bb - 2 * m.ab * ab);
}

/// Frequencies of the templates and of the spectra.
struct Grid {
  double first_frequency = 100;           ///< Hz, at the reference time
  double frequency_step = 3 * 0x1p-18;    ///< Hz: the inverse of a stack's length
  double spin_step = -0x1p-36;            ///< Hz/s: the n-th cell has n of them
  double seconds = 1800;                  ///< of a spectrum: the inverse of a bin's width
  std::uint32_t first_bin = 180000 - 31;  ///< of every spectrum
  std::uint32_t bins = 64;                ///< of every spectrum

  [[nodiscard]] STRATA_HD double frequency(std::uint32_t j) const {
    return first_frequency + j * frequency_step;
  }
  [[nodiscard]] STRATA_HD double spin(std::uint32_t cell) const { return cell * spin_step; }
  bool operator==(const Grid&) const = default;
};

/// Signals of one detector in one stack, anywhere in memory.
struct Signals {
  const Bin* const* spectra = nullptr;  ///< of each signal
  const Timing* timings = nullptr;
  const Antenna* antennas = nullptr;
  std::uint32_t count = 0;
};

}  // namespace strata::fstat
