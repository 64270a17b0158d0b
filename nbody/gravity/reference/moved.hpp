// Where the bodies of a file are after some steps, in double precision: what the results of other
// programs are set beside. Host only.
#pragma once

#include "nbody/gravity/problem/dataset_file.hpp"

#include <cstdint>

namespace strata::nbody {

/// The bodies after `steps` more steps of semi-implicit Euler, as the rungs take them: first each
/// velocity by the acceleration, then each place by the new velocity. All in double precision, on
/// all CPUs; only the end is rounded to single precision. Throws std::overflow_error where the
/// steps of the dataset would no longer fit.
[[nodiscard]] Dataset moved(Dataset dataset, std::uint32_t steps);

}  // namespace strata::nbody
