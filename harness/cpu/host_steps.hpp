// Timing of simulation steps on a CPU: the number of steps per sample, and the clocks. Host only.
#pragma once

#include "harness/case/plan.hpp"
#include "harness/cpu/host_machine.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace strata {

/// Throws Skipped if the samples of the plan, of `seconds` each, cannot be taken in time. `what` is
/// the content of a sample: "one step".
void require_time_for_samples(const Plan& plan, double seconds, const char* what);

/// The number of steps in a sample; seconds_of_step() takes one. Throws Skipped if samples could
/// not be taken in time.
[[nodiscard]] std::size_t steps_of_sample(const Plan& plan,
                                          const std::function<double()>& seconds_of_step);

/// The times of a launch of `machine` on one core: the given seconds by the system clock, seconds
/// by the core's counter, and the core's clock right after the launch.
[[nodiscard]] std::vector<double> by_both_clocks(const HostMachine& machine, double outer);

}  // namespace strata
