// What a window contributes is an entire function of κ, so that a polynomial does for all
// frequencies whose window it is. Host only.
//
// sin(πκ)/π Σ X_l / (κ + 7 − l) has no pole: at each whole κ the sine is 0. On the interval from 0
// to 1 the coefficients of its Chebyshev series fall as (π/4)^n / n!, so that 10 of them leave
// 3·10^-9 of one X_l.
#pragma once

#include "nbody/fstat/problem/elements.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace strata::fstat {

inline constexpr std::size_t coefficients = 10;

/// Of each X_l its part of each coefficient, of powers of 2κ − 1; filled up with 0.
using WindowPolynomial = std::array<std::array<float, window>, window>;

/// Interpolates at the zeros of a Chebyshev polynomial.
[[nodiscard]] inline WindowPolynomial window_polynomial() {
  constexpr double pi = std::numbers::pi;
  WindowPolynomial all{};
  for (std::size_t l = 0; l < window; ++l) {
    std::array<double, coefficients> of_powers{};
    std::array<double, coefficients> before{};  // T_(n−1) as a polynomial
    std::array<double, coefficients> here{1};   // T_n
    for (std::size_t n = 0; n < coefficients; ++n) {
      double of_chebyshev = 0;
      for (std::size_t node = 0; node < coefficients; ++node) {
        const double angle = pi * (static_cast<double>(node) + 0.5) / coefficients;
        const double kappa = (std::cos(angle) + 1) / 2;
        of_chebyshev += std::sin(pi * kappa) / pi / (kappa + 7 - static_cast<double>(l)) *
                        std::cos(static_cast<double>(n) * angle);
      }
      of_chebyshev *= (n == 0 ? 1.0 : 2.0) / coefficients;
      for (std::size_t power = 0; power < coefficients; ++power)
        of_powers[power] += of_chebyshev * here[power];
      std::array<double, coefficients> next{};  // T_(n+1) = 2x T_n − T_(n−1), and T_1 = x
      for (std::size_t power = 1; power < coefficients; ++power)
        next[power] = (n == 0 ? 1 : 2) * here[power - 1];
      for (std::size_t power = 0; power < coefficients; ++power)
        next[power] -= before[power];
      before = here;
      here = next;
    }
    for (std::size_t power = 0; power < coefficients; ++power)
      all[l][power] = static_cast<float>(of_powers[power]);
  }
  return all;
}

}  // namespace strata::fstat
