// How the steps of a simulation are timed on a CPU: how many a sample has, and by which clocks.
// Host only.
#pragma once

#include "harness/case/plan.hpp"
#include "harness/cpu/host_machine.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace strata {

/// Throws Skipped where the samples that the plan asks for, of so many seconds each, could not be
/// taken in time. `what` a sample is: "one step".
void require_time_for_samples(const Plan& plan, double seconds, const char* what);

/// How many steps a sample has; seconds_of_step() takes one. Throws Skipped where samples could not
/// be taken in time.
[[nodiscard]] std::size_t steps_of_sample(const Plan& plan,
                                          const std::function<double()>& seconds_of_step);

/// What a launch of `machine` on one core took: seconds by the system's clock, as given, seconds by
/// the core's counter, and the rate of that counter by the system's clock.
[[nodiscard]] std::vector<double> by_both_clocks(const HostMachine& machine, double outer);

}  // namespace strata
