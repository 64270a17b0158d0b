// The checks of a power that was measured over a window.
#pragma once

#include "harness/measure/session.hpp"
#include "harness/record/gates.hpp"

#include <optional>

namespace strata {

/// Adds energy_integral_gate() and temperature_gate().
inline void judge_power(Session& session, double counter_watts,
                        std::optional<double> integral_watts,
                        std::optional<double> change_celsius) {
  session.add(energy_integral_gate(counter_watts, integral_watts));
  session.add(temperature_gate(change_celsius));
}

}  // namespace strata
