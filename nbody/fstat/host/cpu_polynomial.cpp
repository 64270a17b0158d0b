#include "nbody/fstat/host/lanes.hpp"
#include "nbody/fstat/window_polynomial.hpp"

namespace strata::fstat::cpu_polynomial {
namespace {

constexpr unsigned all_powers = window;

/// The coefficients of a window, both signs of odd bins inside them.
template <unsigned lanes>
struct Coefficients {
  std::array<float, all_powers> re;
  std::array<float, all_powers> im;

  [[STRATA_INLINE]] void make(const WindowPolynomial& parts, const Bin* bins, bool odd) {
    for (unsigned from = 0; from < coefficients; from += lanes) {
      Floats<lanes> sum_re{};
      Floats<lanes> sum_im{};
      for (unsigned l = 0; l < window; ++l) {
        const Floats<lanes> part = load<lanes>(parts[l].data() + from);
        sum_re += bins[l].re * part;
        sum_im += bins[l].im * part;
      }
      store<lanes>(re.data() + from, odd ? -sum_re : sum_re);
      store<lanes>(im.data() + from, odd ? -sum_im : sum_im);
    }
  }
};

const WindowPolynomial& parts() {
  static const WindowPolynomial all = window_polynomial();
  return all;
}

struct PolynomialBand {
  template <unsigned lanes>
  [[STRATA_INLINE]] static void run(const Band& band) {
    constexpr std::uint32_t most_vectors = most.frequencies / lanes;
    thread_local std::array<LaneSums<lanes>, most_vectors> sums;
    const std::uint32_t vectors = (band.frequencies + lanes - 1) / lanes;
    for (std::uint32_t v = 0; v < vectors; ++v)
      sums[v] = {};
    for (std::uint32_t d = 0; d < band.detectors; ++d) {
      for (std::uint32_t s = 0; s < band.groups[d].count; ++s)
        add_signal<lanes>(band, band.groups[d], s, sums.data(), vectors);
    }
    for (std::uint32_t v = 0; v < vectors; ++v) {
      const std::uint32_t first = v * lanes;
      put<lanes>(band, first, std::min(band.frequencies - first, lanes), sums[v]);
    }
  }

 private:
  /// Adds the terms of a signal to all frequencies: their windows follow each other.
  template <unsigned lanes>
  [[STRATA_INLINE]] static void add_signal(const Band& band, const Signals& of, std::uint32_t s,
                                           LaneSums<lanes>* sums, std::uint32_t vectors) {
    using V = Floats<lanes>;
    const WindowPolynomial& parts_of_bins = parts();
    std::array<Coefficients<lanes>, 2> made{};  // of windows by the parity of their first bins
    std::array<std::uint32_t, 2> made_of{~0U, ~0U};
    const auto coefficients_of = [&](std::uint32_t bin, bool odd) __attribute__((always_inline))
                                     ->const Coefficients<lanes>& {
      if (made_of[bin % 2] != bin) {
        made[bin % 2].make(parts_of_bins, of.spectra[s] + bin, odd);
        made_of[bin % 2] = bin;
      }
      return made[bin % 2];
    };
    for (std::uint32_t v = 0; v < vectors; ++v) {
      const Frequencies<lanes> all{band, v * lanes};
      const Arrivals<lanes> arrivals{band, all, of.timings[s]};
      const Coefficients<lanes>& now = coefficients_of(arrivals.bin, arrivals.odd);
      const V x = 2 * arrivals.kappa - 1;
      V re;
      V im;
      if (!arrivals.split) {
        re = now.re[coefficients - 1] + V{};
        im = now.im[coefficients - 1] + V{};
        for (std::size_t n = coefficients - 1; n-- > 0;) {
          re = re * x + now.re[n];
          im = im * x + now.im[n];
        }
      } else {
        const Coefficients<lanes>& next = coefficients_of(arrivals.bin + 1, !arrivals.odd);
        const auto either = [&](float here, float there) __attribute__((always_inline)) {
          return arrivals.later ? there + V{} : here + V{};
        };
        re = im = V{};
        for (std::size_t n = coefficients; n-- > 0;) {
          re = re * x + either(now.re[n], next.re[n]);
          im = im * x + either(now.im[n], next.im[n]);
        }
      }
      add(sums[v], re, im, V{} + 1.0F, turns<lanes>(band, all, of.timings[s]), of.antennas[s]);
    }
  }
};

HostKernel make(const Observation& seen, Vectors have) {
  return vector_bands<PolynomialBand>(seen, have);
}

STRATA_RUNG("fstat_cpu_polynomial", make);

}  // namespace
}  // namespace strata::fstat::cpu_polynomial
