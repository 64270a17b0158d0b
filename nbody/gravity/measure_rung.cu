// How a rung on a GPU is verified, timed and counted.
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/sm_stamps.cuh"
#include "harness/measure/engine.hpp"
#include "nbody/gravity/rung_kernels.cuh"

#include <optional>

namespace strata::nbody {

Verification verify(const RungKernel& kernel, const std::string& layout, const Bodies& bodies,
                    bool moves, std::span<const Pull> right) {
  const auto take = [&kernel](DeviceSteps& buffers, const Step& step) {
    const Stream stream;
    restore(buffers, stream);
    kernel.launch(step, stream.get());
    cuda_check(cudaGetLastError());
    stream.synchronize();
  };
  return verified_step<DeviceBuffer<float>>(layout, bodies, moves, right, take);
}

void measure_rung(Session& session, const Rung& rung, MakeRungKernel make) {
  const Problem problem = problem_of(session);
  const bool moves = problem.moves();
  const std::string& layout = session.param("layout");
  const ReferenceProblem& right = reference_problem(session, problem, device_reference);
  const RungKernel kernel = make(session, problem);
  CudaMachine machine{session, 0, CudaMachine::Stamps::merged_by_sm};
  const Stream& stream = machine.stream();
  DeviceSteps buffers{layout, right.bodies, moves};
  const auto steps = buffers.steps(moves ? galaxies_steps : 1, time_step);
  const KernelCode code = machine.code(kernel.kernel);

  RungCase which{.rung = rung,
                 .problem = problem,
                 .steps = steps.size(),
                 .verified = verify(kernel, layout, right.bodies, moves, right.pulls),
                 .sms = gpu_facts(session.device().identity().facts).sms,
                 .square_roots = kernel.square_roots,
                 .facts = {{"registers", std::int64_t{code.registers}},
                           {"shared_bytes", static_cast<std::int64_t>(code.shared_bytes)},
                           {"threads", std::int64_t{kernel.threads}}}};
  if (kernel.facts) which.facts.merge(kernel.facts());
  judge_last_sample(which, buffers, right, device_reference);
  Experiment experiment = describe(which);
  experiment.kernels = {kernel.kernel};
  if (problem.bodies > kernel.most_counted) {
    experiment.counts.reset();
    experiment.not_counted = "a pass of the profiler takes longer than the time limit of a case";
  }

  std::optional<PinnedBuffer<float>> in;
  std::optional<PinnedBuffer<float>> out;
  if (problem.kind == Kind::gravit) {
    std::ranges::copy(words_of(layout, right.bodies),
                      in.emplace(buffers.from.size(), Where::current()).data());
    out.emplace(buffers.acceleration.size(), Where::current());
  }
  const auto mark = [&](unsigned number, unsigned blocks) {
    stamp<<<blocks, 32, 0, stream.get()>>>(machine.device_stamps(), number);
  };
  const auto before = [&] {
    if (in) in->upload_to(buffers.from, stream.get());
    mark(0, 2 * which.sms);
  };
  const auto after = [&] {
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
    const BothSides seen = machine.time_both_sides(all_steps, /*held=*/false, {before, after});
    machine.land();
    const StampedSteps inside = stamped_steps(machine.stamps());
    return {seen.device, inside.seconds, inside.core_hertz, seen.caller};
  };
  if (session.counters() != nullptr) {
    Slope counted;  // both counted launches contain the stamp, one contains a step
    counted.prepare = [&](const Call&) { restore(buffers, stream); };
    counted.launch = [&](const Call& call) {
      mark(0, 1);
      if (call.length.rounds > 0) kernel.launch(steps.front(), stream.get());
    };
    experiment.slopes = {counted};
  }
  measure(session, machine, experiment);
}

}  // namespace strata::nbody
