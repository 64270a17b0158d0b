// Observations, their reference, and the arithmetic of a term.
#include "message_of.hpp"
#include "nbody/fstat/fixed_phase.hpp"
#include "nbody/fstat/pieces.hpp"
#include "nbody/fstat/reference/sums.hpp"
#include "nbody/fstat/window_polynomial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

namespace strata::fstat {
namespace {

using testing::HasSubstr;
using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi;

const Observation& few() {
  static const Observation seen = generate({.sky = 2, .cells = 3, .stacks = 3, .frequencies = 161});
  return seen;
}

TEST(FstatObservation, HasTheShapeOfTheSeed) {
  const Problem whole;
  EXPECT_EQ(whole.results() * whole.detectors, 10'954'440U) << "a call for each detector";
  const Observation seen = generate({.sky = 1});
  std::uint32_t least = most_signals;
  for (std::uint32_t group = 0; group < seen.problem.groups(); ++group)
    least = std::min(least, seen.signals_of(group));
  EXPECT_EQ(seen.longest_group(), 50U);
  EXPECT_EQ(least, 40U) << "uneven by up to 10";
  EXPECT_NEAR(45 * seen.terms(), 4.93e8, 0.1e8);
  const auto latest = std::ranges::max(seen.timings, {}, &Timing::delta);
  EXPECT_GT(seen.grid.first_frequency * latest.delta, 1e9) << "cycles that single precision lacks";
}

TEST(FstatObservation, OfLessIsPartOfOneOfMore) {
  const Observation part = generate({.sky = 1, .cells = 1, .stacks = 2, .frequencies = 1});
  for (std::uint32_t s = 0; s < part.signals(); ++s) {
    EXPECT_EQ(part.timings[s], few().timings[s]);
    EXPECT_EQ(part.antennas[s], few().antennas[s]);
  }
  EXPECT_TRUE(std::equal(part.spectra.begin(), part.spectra.end(), few().spectra.begin()));
  EXPECT_TRUE(std::ranges::none_of(part.spectra, [](const Bin& x) { return x == Bin{}; }));
  EXPECT_NE(few(), generate({.sky = 2, .cells = 3, .stacks = 3, .frequencies = 161, .seed = 3}));
}

TEST(FstatObservation, IsRefusedInOneLine) {
  const auto refusal = [](const std::function<void(Observation&)>& spoil) -> std::string {
    Observation seen = few();
    spoil(seen);
    const std::string message = message_of([&] { check("here", seen); });
    if (message != "accepted") {
      EXPECT_THAT(message, testing::AllOf(testing::StartsWith("here"), HasSubstr("; expected ")));
    }
    return message;
  };
  EXPECT_EQ(refusal([](Observation&) {}), "accepted");
  EXPECT_THAT(refusal([](Observation& o) { o.first_signal[1] = 0; }),
              HasSubstr("detector 0 has signals 0 to 0 in stack 0"));
  EXPECT_THAT(refusal([](Observation& o) { o.timings.pop_back(); }), HasSubstr("timings"));
  EXPECT_THAT(refusal([](Observation& o) { o.spectra.resize(100); }), HasSubstr("runs out"));
  EXPECT_THAT(refusal([](Observation& o) { o.grid.first_bin += 60; }),
              HasSubstr("outside the band"));
  EXPECT_THAT(refusal([](Observation& o) { o.grid.first_frequency += 1; }),
              HasSubstr("outside the band"));
  EXPECT_THAT(refusal([](Observation& o) {
                for (Antenna& one : o.antennas)
                  one.b = 2 * one.a;
              }),
              HasSubstr("polarisations of stack 0 cannot be distinguished"));
}

/// LALSuite's sum over a window, in its own form and as wide as the compiler has.
std::complex<long double> lal_term(const Grid& grid, const Bin* spectrum, const Timing& timing,
                                   double f, double f1) {
  const long double delta = timing.delta;
  const long double bins = (f + f1 * delta) * timing.rate * grid.seconds;
  const long double phi = f * delta + f1 * delta * delta / 2;
  const long double k = std::floor(bins);
  const long double kappa = bins - k;
  const long double two_pi = 2 * std::numbers::pi_v<long double>;
  const std::complex<long double> kernel{std::sin(two_pi * kappa),
                                         -2 * std::pow(std::sin(two_pi * kappa / 2), 2.0L)};
  std::complex<long double> sum;
  for (int l = 0; l < 16; ++l) {
    const Bin& x = spectrum[static_cast<int>(k) - 7 + l - static_cast<int>(grid.first_bin)];
    sum += kernel / (kappa + (7 - l)) * std::complex<long double>(x.re, x.im);
  }
  const long double lambda = bins / 2 - phi;
  return std::polar(1.0L, two_pi * (lambda - std::round(lambda))) * sum / two_pi;
}

TEST(FstatReference, IsTheSumThatLalsuiteWrites) {
  const Observation& seen = few();
  const Reference right = reference_of(seen);
  const Problem& p = seen.problem;
  for (std::size_t result = 0; result < p.results(); result += 101) {
    const auto j = static_cast<std::uint32_t>(result % p.frequencies);
    const std::size_t stack = result / p.frequencies % p.stacks;
    const auto cell = static_cast<std::uint32_t>(result / p.frequencies / p.stacks % p.cells);
    const std::size_t sky = result / p.templates();
    std::complex<long double> fa;
    long double a = 0;
    long double b = 0;
    long double ab = 0;
    std::complex<long double> fb;
    for (std::size_t s = seen.first_signal[stack * 2]; s < seen.first_signal[stack * 2 + 2]; ++s) {
      const std::size_t at = sky * seen.signals() + s;
      const auto one = lal_term(seen.grid, seen.spectra.data() + seen.offsets[s], seen.timings[at],
                                seen.grid.frequency(j), seen.grid.spin(cell));
      const long double here_a = seen.antennas[at].a;
      const long double here_b = seen.antennas[at].b;
      fa += here_a * one;
      fb += here_b * one;
      a += here_a * here_a;
      b += here_b * here_b;
      ab += here_a * here_b;
    }
    const Complex found = right.sums[result].a;
    EXPECT_NEAR(found.real(), static_cast<double>(fa.real()), 1e-8) << result;
    EXPECT_NEAR(found.imag(), static_cast<double>(fa.imag()), 1e-8);
    const long double two_f =
        2 / (a * b - ab * ab) *
        (b * std::norm(fa) + a * std::norm(fb) - 2 * ab * (fa * std::conj(fb)).real());
    const auto expected = static_cast<double>(two_f);
    EXPECT_NEAR(right.two_f[result], expected, 1e-7 * std::max(1.0, expected));
  }
}

// 2F of noise is a χ² of four degrees of freedom; templates a bin and more apart are independent.
TEST(FstatReference, IsFourInTheMeanOfNoise) {
  const Observation seen = generate({.sky = 4, .cells = 1, .stacks = 84, .frequencies = 4});
  const Reference right = reference_of(seen);
  const double mean =
      std::reduce(right.two_f.begin(), right.two_f.end()) / static_cast<double>(right.two_f.size());
  EXPECT_NEAR(mean, 4, 0.5);
}

// A source that is put into the noise: its own template finds it, and no other as well.
TEST(FstatReference, FindsASignalWhereItIs) {
  Observation seen = few();
  const std::uint32_t j = 70;
  const std::uint32_t cell = 2;
  for (std::uint32_t s = 0; s < seen.signals(); ++s) {
    const Timing& timing = seen.timings[s];  // from the first sky point
    const double f = seen.grid.frequency(j);
    const double f1 = seen.grid.spin(cell);
    const double bins = (f + f1 * timing.delta) * timing.rate * seen.grid.seconds;
    const double phi = f * timing.delta + f1 * timing.delta * timing.delta / 2;
    for (std::uint32_t bin = 0; bin < seen.grid.bins; ++bin) {
      // The spectrum of e^(2πi(φ + …)) over the stretch, whose middle has phase φ.
      const double x = bins - (seen.grid.first_bin + bin);
      const double k = seen.grid.first_bin + bin;
      const double phase = 2 * pi * std::remainder(phi, 1) - pi * std::fmod(k, 2);
      const Complex signal = std::sin(pi * x) / (pi * x) * std::polar(1.0, phase);
      Bin& to = seen.spectra[seen.offsets[s] + bin];
      to.re += static_cast<float>(3 * seen.antennas[s].a * signal.real());
      to.im += static_cast<float>(3 * seen.antennas[s].a * signal.imag());
    }
  }
  const Reference right = reference_of(seen);
  const Problem& p = seen.problem;
  for (std::size_t stack = 0; stack < p.stacks; ++stack) {
    double largest = 0;
    std::size_t found = 0;
    for (std::size_t sky = 0; sky < p.sky; ++sky) {
      for (std::size_t at = 0; at < p.frequencies; ++at) {
        const std::size_t result =
            sky * p.templates() + (cell * p.stacks + stack) * p.frequencies + at;
        if (right.two_f[result] <= largest) continue;
        largest = right.two_f[result];
        found = result;
      }
    }
    EXPECT_GT(largest, 40);
    EXPECT_LT(found, p.templates()) << "the sky point that it comes from";
    EXPECT_NEAR(static_cast<double>(found % p.frequencies), j, 1);
  }
}

TEST(FstatPieces, HoldWhatTheyAreMadeOfInNoOrder) {
  const Observation& seen = few();
  std::vector<std::byte> memory(Pieces::bytes_of(seen));
  const Pieces pieces{seen, memory};
  std::vector<const Bin*> places;
  for (std::uint32_t sky = 0; sky < seen.problem.sky; ++sky) {
    for (std::uint32_t group = 0; group < seen.problem.groups(); ++group) {
      const Signals mine = pieces.of(sky, group);
      ASSERT_EQ(mine.count, seen.signals_of(group));
      for (std::uint32_t s = 0; s < mine.count; ++s) {
        const std::size_t signal = seen.first_signal[group] + s;
        const Bin* const from = seen.spectra.data() + seen.offsets[signal];
        EXPECT_TRUE(std::equal(from, from + seen.grid.bins, mine.spectra[s]));
        EXPECT_EQ(mine.timings[s], seen.timings[sky * seen.signals() + signal]);
        EXPECT_EQ(mine.antennas[s], seen.antennas[sky * seen.signals() + signal]);
        if (sky == 0) places.push_back(mine.spectra[s]);
      }
    }
  }
  const auto one_after_another = std::ranges::count_if(places, [&](const Bin*& place) {
    return &place != places.data() && place > *(&place - 1) && place - *(&place - 1) < 100;
  });
  EXPECT_LT(one_after_another, 10);
  EXPECT_FALSE(std::ranges::is_sorted(places));
}

TEST(FstatPieces, ArePackedAsTheyWere) {
  const Observation& seen = few();
  std::vector<std::byte> memory(Pieces::bytes_of(seen));
  const Pieces pieces{seen, memory};
  PackedVectors vectors{seen};
  pack(pieces, seen, 1, vectors.places());
  EXPECT_EQ(vectors.bins, seen.spectra);
  EXPECT_EQ(vectors.first, seen.first_signal);
  EXPECT_EQ(vectors.spectra[5], vectors.bins.data() + 5 * seen.grid.bins);
  EXPECT_TRUE(std::equal(vectors.timings.begin(), vectors.timings.end(),
                         seen.timings.begin() + seen.signals()));
  // Without spectra nothing of them is touched.
  Packed sky_alone = vectors.places();
  sky_alone.bins = {};
  std::ranges::fill(vectors.first, 7U);
  pack(pieces, seen, 0, sky_alone);
  EXPECT_EQ(vectors.first.front(), 7U);
  EXPECT_EQ(vectors.timings.front(), seen.timings.front());
}

// ---- A term -------------------------------------------------------------------------------------

/// From one whole bin to the next, most of all near both.
std::vector<float> kappas() {
  std::vector<float> all{least_kappa, 1e-20F, 1e-7F, 1e-4F, 0.5F, 1 - 0x1p-23F, most_kappa};
  for (int i = 1; i < 1000; ++i)
    all.push_back(static_cast<float>(i) / 1000);
  return all;
}

TEST(FstatTerm, HasTheSineOfItsKappaToTheLastPlaces) {
  for (const float kappa : kappas()) {
    const double right = std::sin(pi * static_cast<double>(kappa)) / pi;
    EXPECT_NEAR(static_cast<double>(sine_over_pi(kappa)) / right, 1, 3e-7) << kappa;
  }
  for (int i = -1000; i <= 1000; ++i) {
    const float c = static_cast<float>(i) / 2000;
    const Turn<float> turn = turn_of(c);
    EXPECT_NEAR(turn.cosine, std::cos(2 * pi * static_cast<double>(c)), 2e-7) << c;
    EXPECT_NEAR(turn.sine, std::sin(2 * pi * static_cast<double>(c)), 2e-7) << c;
  }
  EXPECT_EQ(kappa_of(0), least_kappa);
  EXPECT_EQ(kappa_of(1), most_kappa);
}

/// sin(πκ)/π Σ X_l / (κ + 7 − l).
Complex exactly(const Bin* bins, float kappa) {
  Complex sum;
  for (int l = 0; l < 16; ++l)
    sum += Complex(bins[l].re, bins[l].im) / (static_cast<double>(kappa) + (7 - l));
  return std::sin(pi * static_cast<double>(kappa)) / pi * sum;
}

template <std::uint32_t group>
void expect_weighted() {
  const Bin* const bins = few().spectra.data();
  for (const float kappa : kappas()) {
    const Bin sum = Weighted<group>{}(bins, kappa);
    const Complex right = exactly(bins, kappa);
    EXPECT_NEAR(sine_over_pi(kappa) * sum.re, right.real(), 1e-6) << kappa;
    EXPECT_NEAR(sine_over_pi(kappa) * sum.im, right.imag(), 1e-6) << kappa;
  }
}
TEST(FstatTerm, IsTheSameHoweverManyBinsShareAReciprocal) {
  expect_weighted<1>();
  expect_weighted<2>();
  expect_weighted<4>();
  expect_weighted<8>();
  expect_weighted<16>();
}

TEST(FstatTerm, IsThePolynomialOfItsWindow) {
  const WindowPolynomial parts = window_polynomial();
  const Bin* const bins = few().spectra.data();
  std::vector<float> all = kappas();
  all.insert(all.end(), {0.0F, 1.0F});
  for (const float kappa : all) {
    const double x = 2 * static_cast<double>(kappa) - 1;
    Complex value;
    for (std::size_t n = coefficients; n-- > 0;) {
      Complex coefficient;
      for (std::size_t l = 0; l < window; ++l)
        coefficient += static_cast<double>(parts[l][n]) * Complex(bins[l].re, bins[l].im);
      value = value * x + coefficient;
    }
    const float inside = kappa_of(kappa);
    EXPECT_NEAR(std::abs(value - exactly(bins, inside)), 0, 5e-7) << kappa;
  }
  EXPECT_NE(parts[3][coefficients - 1], 0)
      << "the error with one coefficient less is near the bound";
  EXPECT_EQ(parts[3][coefficients], 0) << "filled up";
}

TEST(FstatTerm, HasItsPhaseWithoutWholeCyclesLost) {
  // 10^9 cycles and a little more: the product alone is rounded to 2^-23.
  const double delta = 1e7 + 0x1p-29;
  EXPECT_NEAR(std::remainder(cycles_at(100.5, 0, delta) - 100.5 * 0x1p-29, 1), 0, 1e-12);
  const double spin = -0x1p-36;
  const long double bent = 0.5L * spin * delta * delta;
  const double right = static_cast<double>(bent - std::round(bent));
  EXPECT_NEAR(std::remainder(cycles_at(0, spin, delta) - right, 1), 0, 1e-11);
}

TEST(FstatTerm, ArrivesInFixedPointWhereItDoesInDoublePrecision) {
  const Observation& seen = few();
  const Grid& grid = seen.grid;
  for (std::size_t s = 0; s < seen.timings.size(); s += 7) {
    const Timing& timing = seen.timings[s];
    for (const std::uint32_t cell : {0U, 2U}) {
      const FixedStart start = fixed_start(grid, grid.spin(cell), timing);
      const FixedStep step = fixed_step(grid, timing);
      for (std::uint32_t j = 0; j < seen.problem.frequencies; j += 9) {
        const FixedArrival at = fixed_arrival(grid, start, step, j);
        const double bins = bins_at(grid, grid.frequency(j), grid.spin(cell), timing);
        EXPECT_NEAR(at.arrival.bin + 7 + static_cast<double>(at.arrival.kappa), bins, 1e-7);
        EXPECT_EQ(at.arrival.odd, (at.arrival.bin + 7 + grid.first_bin) % 2 == 1);
        const double cycles = cycles_at(grid.frequency(j), grid.spin(cell), timing.delta);
        EXPECT_NEAR(std::remainder(static_cast<double>(at.cycles) - cycles, 1), 0, 8e-8);
        EXPECT_LE(std::abs(at.cycles), 0.5F);
      }
    }
  }
}

}  // namespace
}  // namespace strata::fstat
