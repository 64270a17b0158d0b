// The error bounds of the n-body ladder's rungs. Host only.
#pragma once

#include "harness/record/gates.hpp"
#include "nbody/common/ladder.hpp"
#include "nbody/gravity/reference/gravity.hpp"

#include <cstdint>
#include <string>

namespace strata::nbody {

/// Bound of the relative root mean square error against double precision.
///
/// The error of each term is a few roundings. A running sum of n terms adds √n of them, because
/// their signs vary (Higham, Accuracy and Stability of Numerical Algorithms, 2.8 and 4.2). The
/// bound is doubled for an approximate reciprocal square root. In roundings of 2^-24:
///   running: 8 + √n          blocks: 8 + √256 + √(n/256)
///   halves:  as blocks, and 2^5
/// `halves` rounds the difference from the group's contribution to half precision, with an error of
/// up to 2^-12 of that difference, whose sign varies from pair to pair. The nearest far groups
/// contribute most, and the number of those around a body does not depend on the number of bodies.
/// The same arithmetic in double precision gives 2^-20 of the sum; the bound is twice that.
///
/// The largest error of a single body may be 64 times the bound: where contributions from all sides
/// nearly cancel, the sum is small but its error is not.
///
/// If one body outweighs all others (`dominated`), sums stay near one number, and every later term
/// may be rounded in the same direction: then a running sum has n roundings, and blocks have
/// 256 + n/256.
[[nodiscard]] double rms_bound(const Rung& rung, std::uint32_t bodies, bool dominated = false);

/// An error together with the rung's bounds.
[[nodiscard]] Accuracy accuracy_of(const Rung& rung, std::uint32_t bodies, const Error& error,
                                   std::string what, bool dominated = false);

}  // namespace strata::nbody
