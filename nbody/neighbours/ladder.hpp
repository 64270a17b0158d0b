// Declarations of the neighbours ladder's rungs, as values and functions. Host only.
#pragma once

#include "nbody/common/ladder.hpp"
#include "nbody/neighbours/model/build.hpp"
#include "nbody/neighbours/model/tests.hpp"
#include "nbody/neighbours/model/traffic.hpp"

namespace strata::neighbours {

/// The choices of the session's case on a rung's own axes; 0 where the rung has no such axis.
[[nodiscard]] Choice choice_of(const Session& session);

/// The functions that a rung names. Null where it names none.
[[nodiscard]] PredictedTests tests_of(const Rung& rung);
[[nodiscard]] PredictedTraffic traffic_of(const Rung& rung);
[[nodiscard]] PredictedBuild build_of(const Rung& rung);

}  // namespace strata::neighbours
