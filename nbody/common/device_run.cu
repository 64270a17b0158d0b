#include "harness/cuda/sm_stamps.cuh"
#include "harness/measure/engine.hpp"
#include "nbody/common/device_run.hpp"

namespace strata {

DeviceRun::DeviceRun(Session& session)
    : gpu_{gpu_facts(session.device().identity().facts)},
      machine_{session, 0, CudaMachine::Stamps::merged_by_sm} {}

Facts DeviceRun::facts_of(const void* kernel, unsigned threads) const {
  const KernelCode code = machine_.code(kernel);
  return {{"registers", std::int64_t{code.registers}},
          {"shared_bytes", static_cast<std::int64_t>(code.shared_bytes)},
          {"threads", std::int64_t{threads}}};
}

void DeviceRun::mark(unsigned number, unsigned blocks) {
  stamp<<<blocks == 0 ? 2 * gpu_.sms : blocks, 32, 0, stream().get()>>>(machine_.device_stamps(),
                                                                        number);
}

double DeviceRun::seconds(const std::function<void()>& work) {
  return machine_.time_both_sides(work, /*held=*/false).device;
}

void DeviceRun::measure(Session& session, Experiment experiment,
                        const std::vector<const void*>& kernels,
                        const std::function<void()>& restore, const std::function<void()>& work,
                        const std::function<void()>& before, const std::function<void()>& after) {
  experiment.kernels = kernels;
  experiment.prepare = [&] {
    machine_.poison();
    restore();
  };
  experiment.observe = [&]() -> std::vector<double> {
    const BothSides seen = machine_.time_both_sides(work, /*held=*/false,
                                                    {.before =
                                                         [&] {
                                                           if (before) before();
                                                           mark(0);
                                                         },
                                                     .after =
                                                         [&] {
                                                           mark(1);
                                                           if (after) after();
                                                         }});
    machine_.land();
    const StampedSteps inside = stamped_steps(machine_.stamps());
    return {seen.device, inside.seconds, inside.core_hertz, seen.caller};
  };
  strata::measure(session, machine_, experiment);
}

}  // namespace strata
