// The F-statistic in double precision, by which every rung is judged. Host only.
#pragma once

#include "nbody/fstat/problem/observation.hpp"

#include <complex>
#include <vector>

namespace strata::fstat {

/// Fa and Fb of a template.
struct ExactSums {
  std::complex<double> a;
  std::complex<double> b;
  bool operator==(const ExactSums&) const = default;
};
/// Of each result.
struct Reference {
  std::vector<ExactSums> sums;
  std::vector<double> two_f;
  bool operator==(const Reference&) const = default;
};

/// Every sum as LALSuite writes it (ComputeFstat_Demod_ComputeFaFb.c), with −2 sin² πκ for
/// cos 2πκ − 1, and phases whose products are exact. On all CPUs: some 10^7 terms a second on each.
[[nodiscard]] Reference reference_of(const Observation& seen);

}  // namespace strata::fstat
