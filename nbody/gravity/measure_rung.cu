// How a rung on a GPU is verified, timed and counted; step.hpp says what a rung hands over.
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"
#include "nbody/gravity/device_reference.hpp"
#include "nbody/gravity/rung_experiment.hpp"
#include "nbody/gravity/rung_kernels.cuh"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::nbody {
namespace {

/// Every SM that runs one of these blocks stores both clocks as this mark of its stamp.
__global__ void stamp(Stamp* stamps, unsigned mark) {
  const std::uint32_t sm = sm_id();
  if (sm >= most_sms) __trap();
  const Reading now = reading_after();
  stamps[sm].cycles[mark] = now.cycles;
  stamps[sm].nanoseconds[mark] = now.nanoseconds;
  stamps[sm].core = sm;
  stamps[sm].tag = 1;
}

DeviceSteps steps_on_device(const std::string& layout, const Bodies& bodies, bool moves) {
  const std::vector<float> words = words_of(layout, bodies);
  return {bodies, moves, DeviceBuffer<float>{std::span<const float>{words}}};
}
Bodies bodies_after(std::size_t steps, const DeviceSteps& buffers, const std::string& layout) {
  return bodies_of(layout, buffers.after(steps).to_host(), buffers.systems, buffers.bodies);
}

/// The outcome of one step against a reference that is known already.
Verification verify(const RungKernel& kernel, const std::string& layout, bool moves,
                    const Bodies& bodies, std::span<const Pull> pulls) {
  const Bodies still = at_rest(bodies);
  DeviceSteps steps = steps_on_device(layout, still, moves);
  const Stream stream;
  restore(steps, stream);
  kernel.launch(steps.steps(1, 1).front(), stream.get());
  cuda_check(cudaGetLastError());
  stream.synchronize();
  if (!moves) return {.error = error_of(pulls, steps.acceleration.to_host())};
  return verification_of(still, bodies_after(1, steps, layout), pulls);
}

}  // namespace

std::map<std::string, MakeRungKernel, std::less<>>& rung_kernels() {
  static std::map<std::string, MakeRungKernel, std::less<>> kept;
  return kept;
}

Verification verify(const RungKernel& kernel, const std::string& layout, const Problem& problem,
                    const Bodies& bodies) {
  return verify(kernel, layout, problem.moves(), bodies, device_reference(bodies));
}

void measure_rung(Session& session, const Rung& rung, MakeRungKernel make) {
  const Problem problem = problem_of(session);
  const bool moves = problem.moves();
  const std::string& layout = session.param("layout");
  const ReferenceProblem& right = reference_problem(session, problem, device_reference);
  const RungKernel kernel = make(session, problem);
  CudaMachine machine{session, 0, CudaMachine::Stamps::merged_by_sm};
  const Stream& stream = machine.stream();
  DeviceSteps buffers = steps_on_device(layout, right.bodies, moves);
  const auto steps = buffers.steps(moves ? galaxies_steps : 1, time_step);

  RungCase which{.rung = rung,
                 .problem = problem,
                 .steps = steps.size(),
                 .verified = verify(kernel, layout, moves, right.bodies, right.pulls),
                 .sms = gpu_facts(session.device().identity().facts).sms,
                 .square_roots = kernel.square_roots};
  if (moves) {
    which.before = right.conserved.value();
    which.after = [&] {
      const Bodies moved = bodies_after(steps.size(), buffers, layout);
      return conserved(moved, device_reference(moved));
    };
  } else {
    which.error_at_end = [&] { return error_of(right.pulls, buffers.acceleration.to_host()); };
  }
  Experiment experiment = describe(which);
  experiment.kernels = {kernel.kernel};

  std::optional<PinnedBuffer<float>> in;
  std::optional<PinnedBuffer<float>> out;
  if (problem.kind == Kind::gravit) {
    std::ranges::copy(words_of(layout, right.bodies), in.emplace(buffers.from.size()).data());
    out.emplace(buffers.acceleration.size());
  }
  const auto mark = [&](unsigned number, unsigned blocks) {
    stamp<<<blocks, 32, 0, stream.get()>>>(machine.device_stamps(), number);
  };
  Around around;
  around.before = [&] {
    if (in) in->upload_to(buffers.from, stream.get());
    mark(0, 2 * which.sms);
  };
  around.after = [&] {
    mark(1, 2 * which.sms);
    if (out) out->download_from(buffers.acceleration, stream.get());
  };
  const auto all_steps = [&] {
    for (const Step& step : steps)
      kernel.launch(step, stream.get());
  };
  experiment.prepare = [&] {
    machine.poison();
    restore(buffers, stream);
  };
  experiment.observe = [&]() -> std::vector<double> {
    const BothSides seen = machine.time_both_sides(all_steps, /*held=*/false, around);
    machine.land();
    const StampedSteps inside = stamped_steps(machine.stamps());
    return {seen.device, inside.seconds, inside.core_hertz, seen.caller};
  };
  if (session.counters() != nullptr) {
    Slope counted;  // the stamp is in both launches that are counted, a step in one
    counted.prepare = [&](const Call&) { restore(buffers, stream); };
    counted.launch = [&](const Call& call) {
      mark(0, 1);
      if (call.length.rounds > 0) kernel.launch(steps.front(), stream.get());
    };
    experiment.slopes = {counted};
  }
  experiment.facts = [&, described = experiment.facts](const Experiment& measured) {
    Facts facts = described(measured);
    const KernelCode code = machine.code(kernel.kernel);
    facts["registers"] = std::int64_t{code.registers};
    facts["shared_bytes"] = static_cast<std::int64_t>(code.shared_bytes);
    facts["threads"] = std::int64_t{kernel.threads};
    return facts;
  };
  measure(session, machine, experiment);
}

}  // namespace strata::nbody
