// Declarations of the F-statistic ladder's rungs, as values and functions. Host only.
#pragma once

#include "nbody/common/ladder.hpp"
#include "nbody/fstat/model/costs.hpp"

#include <cstdint>

namespace strata::fstat {

/// The choices of a case on a rung's own axes.
struct Choice {
  std::uint32_t group = 1;  ///< bins that share a reciprocal
};
[[nodiscard]] Choice choice_of(const Session& session);

/// The function that a rung names. Null where it names none.
[[nodiscard]] PredictedCosts costs_of(const Rung& rung);

}  // namespace strata::fstat
