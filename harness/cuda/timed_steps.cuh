// How the steps of a sample are timed on a GPU: by events, and by stamps of every SM around them.
#pragma once

#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/sm_stamps.cuh"
#include "harness/measure/experiment.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace strata {

/// Numbers of a sample: seconds of `work` by events and by the timer that all SMs share, and the
/// SMs' clock. The machine's stamps are merged by SM; it must outlive the experiment.
inline void observe_steps(Experiment& experiment, CudaMachine& machine, unsigned sms,
                          std::function<void()> work) {
  experiment.observe = [&machine, sms, work = std::move(work)]() -> std::vector<double> {
    const auto mark = [&](unsigned number) {
      stamp<<<2 * sms, 32, 0, machine.stream().get()>>>(machine.device_stamps(), number);
    };
    const BothSides seen = machine.time_both_sides(
        work, /*held=*/false, {.before = [&] { mark(0); }, .after = [&] { mark(1); }});
    machine.land();
    const StampedSteps inside = stamped_steps(machine.stamps());
    return {seen.device, inside.seconds, inside.core_hertz};
  };
}

}  // namespace strata
