// The reference in double precision on the GPU: every body of a large problem, in a second. What it
// finds is itself held against the host's reference (reference/gravity.hpp).
#pragma once

#include "nbody/gravity/problem/problem.hpp"
#include "nbody/gravity/reference/gravity.hpp"

#include <vector>

namespace strata::nbody {

/// Accelerations and potentials of all bodies, on the current device. Throws std::runtime_error
/// when a body of every few, taken at random, differs from the host's reference by more than 1e-11
/// of the root mean square.
[[nodiscard]] std::vector<Pull> device_reference(const Bodies& bodies);

}  // namespace strata::nbody
