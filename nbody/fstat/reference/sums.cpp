#include "nbody/fstat/reference/sums.hpp"

#include "harness/base/in_parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace strata::fstat {
namespace {

using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi;

/// Without its whole cycles.
double without_whole(double cycles) {
  return cycles - std::nearbyint(cycles);
}

/// Contribution of a spectrum for a signal of this frequency and spin.
Complex term(const Grid& grid, const Bin* spectrum, const Timing& timing, double frequency,
             double spin) {
  const double bins = (frequency + spin * timing.delta) * timing.rate * grid.seconds;
  const double k = std::floor(bins);
  // Exactly at a bin all others have no part in it.
  const double kappa = std::max(bins - k, 0x1p-60);
  const Bin* const first = spectrum + (static_cast<std::int64_t>(k) - grid.first_bin) -
                           (static_cast<std::int64_t>(half_window) - 1);
  std::array<double, window> weights{};
  for (std::size_t l = 0; l < window; ++l)
    weights[l] = 1 / (kappa + (7.0 - static_cast<double>(l)));
  double re = 0;
  double im = 0;
  for (std::size_t l = 0; l < window; ++l) {
    re += static_cast<double>(first[l].re) * weights[l];
    im += static_cast<double>(first[l].im) * weights[l];
  }
  const double sine = std::sin(pi * kappa);
  const Complex dirichlet{2 * sine * std::cos(pi * kappa), -2 * sine * sine};
  const double product = frequency * timing.delta;
  const double rest = std::fma(frequency, timing.delta, -product);
  const double phase =
      without_whole(product) + rest + without_whole(0.5 * spin * timing.delta * timing.delta);
  // λ = (k + κ)/2 − φ, where whole k/2 are whole cycles.
  const double lambda = 0.5 * (std::fmod(k, 2) + kappa) - phase;
  return std::polar(1.0, 2 * pi * lambda) * dirichlet * Complex{re, im} / (2 * pi);
}

/// 2F of sums, where the matrix is not rounded.
class Combination {
 public:
  explicit Combination(std::span<const Antenna> antennas) {
    for (const Antenna& one : antennas) {
      const Antennas here{one.a, one.b};
      a_ += here[0] * here[0];
      b_ += here[1] * here[1];
      ab_ += here[0] * here[1];
    }
  }
  [[nodiscard]] double two_f(const ExactSums& sums) const {
    return 2 / (a_ * b_ - ab_ * ab_) *
           (b_ * std::norm(sums.a) + a_ * std::norm(sums.b) -
            2 * ab_ * (sums.a * std::conj(sums.b)).real());
  }

 private:
  using Antennas = std::array<double, 2>;
  double a_ = 0;
  double b_ = 0;
  double ab_ = 0;
};

/// All frequencies of a stack, from a sky point and for a cell.
void fill_band(const Observation& seen, std::size_t band, Reference& to) {
  const auto& [sky_points, cells, stacks, frequencies, detectors, seed] = seen.problem;
  const std::size_t stack = band % stacks;
  const auto cell = static_cast<std::uint32_t>(band / stacks % cells);
  const std::size_t sky = band / stacks / cells;
  const std::uint32_t first = seen.first_signal[stack * detectors];
  const std::uint32_t end = seen.first_signal[(stack + 1) * detectors];
  const std::span timings = std::span{seen.timings}.subspan(sky * seen.signals());
  const std::span antennas = std::span{seen.antennas}.subspan(sky * seen.signals());
  const Combination combination{antennas.subspan(first, end - first)};
  for (std::uint32_t j = 0; j < frequencies; ++j) {
    ExactSums sums;
    for (std::uint32_t s = first; s < end; ++s) {
      const Complex one = term(seen.grid, seen.spectra.data() + seen.offsets[s], timings[s],
                               seen.grid.frequency(j), seen.grid.spin(cell));
      sums.a += static_cast<double>(antennas[s].a) * one;
      sums.b += static_cast<double>(antennas[s].b) * one;
    }
    const std::size_t result = band * frequencies + j;
    to.sums[result] = sums;
    to.two_f[result] = combination.two_f(sums);
  }
}

}  // namespace

Reference reference_of(const Observation& seen) {
  const std::size_t results = seen.problem.results();
  Reference all{.sums = std::vector<ExactSums>(results), .two_f = std::vector<double>(results)};
  in_parallel(
      results / seen.problem.frequencies,
      [&](std::size_t first, std::size_t last) {
        for (std::size_t band = first; band < last; ++band)
          fill_band(seen, band, all);
      },
      /*least=*/1);
  return all;
}

}  // namespace strata::fstat
