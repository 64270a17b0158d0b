// The reference for every rung: the plain double sum in double precision. Host only.
//
//   a_i = Σ_j m_j (r_j − r_i) / (|r_j − r_i|² + ε²)^(3/2)        (CUDA Handbook, eq. 14-1 ff.)
#pragma once

#include "nbody/gravity/problem/problem.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::nbody {

/// Acceleration (x, y, z) and potential Σ_j −m_j/√(r² + ε²), j ≠ i, in double precision.
struct Pull {
  std::array<double, 3> acceleration{};
  double potential = 0;
};

/// For body i, from all bodies of its system.
[[nodiscard]] Pull reference_pull(const Bodies& bodies, std::size_t i);

/// For every body, computed on all CPUs.
[[nodiscard]] std::vector<Pull> reference_pulls(const Bodies& bodies);

/// Errors of computed accelerations.
struct Error {
  double relative_rms = 0;      ///< √(Σ|a − ref|² / Σ|ref|²)
  double relative_maximum = 0;  ///< largest |a − ref| ÷ root mean square of |ref|
  bool finite = true;
};
/// `x`, `y`, `z`: one number per body each.
[[nodiscard]] Error error_of(std::span<const Pull> reference, std::span<const float> x,
                             std::span<const float> y, std::span<const float> z);

/// Energy and momentum of all systems together, in double precision.
struct Conserved {
  double energy = 0;
  std::array<double, 3> momentum{};
  double momentum_scale = 0;  ///< Σ m|v|: the reference for a drift of momentum
};
[[nodiscard]] Conserved conserved(const Bodies& bodies, std::span<const Pull> pulls);

struct Dataset;
/// The bodies of a file after `steps` more steps of semi-implicit Euler, as in the rungs: first
/// each velocity by the acceleration, then each position by the new velocity. All in double
/// precision, on all CPUs; only the end is rounded to single precision. Throws std::overflow_error
/// if the step count of the dataset would overflow.
[[nodiscard]] Dataset moved(Dataset dataset, std::uint32_t steps);

}  // namespace strata::nbody
