// Verification, timing and counting of a rung on a GPU.
#include "nbody/common/device_run.hpp"
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
  DeviceRun run{session};
  const Stream& stream = run.stream();
  DeviceSteps buffers{layout, right.bodies, moves};
  const auto steps = buffers.steps(moves ? galaxies_steps : 1, time_step);

  RungCase which{.rung = rung,
                 .problem = problem,
                 .steps = steps.size(),
                 .verified = verify(kernel, layout, right.bodies, moves, right.pulls),
                 .sms = run.gpu().sms,
                 .square_roots = kernel.square_roots,
                 .facts = run.facts_of(kernel.kernel, kernel.threads)};
  if (kernel.facts) which.facts.merge(kernel.facts());
  judge_last_sample(session, which, buffers, right, device_reference);
  Experiment experiment = describe(which);
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
  if (session.counters() != nullptr) {
    Slope counted;  // both counted launches contain the stamp, one contains a step
    counted.prepare = [&](const Call&) { restore(buffers, stream); };
    counted.launch = [&](const Call& call) {
      run.mark(0, 1);
      if (call.length.rounds > 0) kernel.launch(steps.front(), stream.get());
    };
    experiment.slopes = {counted};
  }
  run.measure(
      session, experiment, {kernel.kernel}, [&] { restore(buffers, stream); },
      [&] {
        for (const Step& step : steps)
          kernel.launch(step, stream.get());
      },
      [&] {
        if (in) in->upload_to(buffers.from, stream.get());
      },
      [&] {
        if (out) out->download_from(buffers.acceleration, stream.get());
      });
}

}  // namespace strata::nbody
