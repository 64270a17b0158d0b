// Comparison of a rung's results with double precision, on any backend. Host only.
#pragma once

#include "harness/measure/session.hpp"
#include "harness/record/gates.hpp"
#include "nbody/fstat/reference/sums.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace strata::fstat {

/// An observation and its sums.
struct Case {
  Observation seen;
  Reference right;
};
[[nodiscard]] Case case_of(const Problem& problem);
/// The same, computed on first use, for all rungs.
[[nodiscard]] const Case& shared_case(Session& session, const Problem& problem);

/// Bound of the relative root mean square error of Fa and of Fb.
///
/// A term is right to 8 roundings or so, those of its 16 products fall either way, and so do those
/// of a running sum of n signals (Higham, Accuracy and Stability of Numerical Algorithms, 2.8 and
/// 4.2): 2^-24 (8 + √16 + √n). Twice that where reciprocals, sines and cosines are approximate.
[[nodiscard]] double rms_bound(const Observation& seen, bool approximate);

/// Errors of Fa, Fb and 2F, the latter within four times the bound: it is their square, and of a
/// matrix that is rounded, too. A single error may be 16 times the bound.
[[nodiscard]] std::vector<Accuracy> accuracy_of(const Case& which, std::span<const Sums> sums,
                                                std::span<const float> two_f, bool approximate);
/// The same of sums of another program.
[[nodiscard]] std::vector<Accuracy> accuracy_of(const Reference& right, const Reference& other,
                                                double bound);

/// Seconds that a term takes one core of this machine, by fstat_serial on a small part of the
/// seed's observation: what a GPU is set beside. Several samples.
[[nodiscard]] std::vector<double> seconds_of_core();

/// Numbers that are not the same, bit for bit.
[[nodiscard]] std::size_t different(std::span<const float> one, std::span<const float> other);

}  // namespace strata::fstat
