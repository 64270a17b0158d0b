#include "nbody/gravity/host/host_rung.hpp"

#include <limits>

namespace strata::nbody {
namespace {

constexpr float poison = std::numeric_limits<float>::quiet_NaN();

using HostSteps = StepBuffers<std::vector<float>>;
/// Restores the bodies and poisons the outputs.
void restore(HostSteps& steps) {
  std::ranges::copy(steps.begin, steps.from.begin());
  std::ranges::fill(steps.to, poison);
  std::ranges::fill(steps.acceleration, poison);
}

}  // namespace

Verification verify_on_host(const HostKernel& kernel, ThreadTeam& team, const std::string& layout,
                            const Bodies& bodies, bool moves, std::span<const Pull> right) {
  const auto take = [&](HostSteps& buffers, const Step& step) {
    restore(buffers);
    kernel.run({&step, 1}, team);
  };
  return verified_step<std::vector<float>>(layout, bodies, moves, right, take);
}

void measure_rung(Session& session, const Rung& rung, MakeHostKernel make) {
  const HostKernel kernel = make(widest_vectors());
  const Problem problem = problem_of(session);
  const bool moves = problem.moves();
  const std::string& layout = session.param("layout");
  const ReferenceProblem& right = reference_problem(session, problem, reference_pulls);
  HostSteps buffers{layout, right.bodies, moves};
  std::vector<Step> steps = buffers.steps(1, time_step);
  HostRun run{[&](ThreadTeam& team) { kernel.run(steps, team); }};
  const std::size_t count = steps_of_sample(session.plan(), [&] {
    restore(buffers);
    return run.seconds();
  });
  steps = buffers.steps(count, time_step);

  RungCase which{
      .rung = rung,
      .problem = problem,
      .steps = count,
      .verified = verify_on_host(kernel, run.team(), layout, right.bodies, moves, right.pulls),
      .facts = {{"layout", layout},
                {"instructions", kernel.instructions},
                {"cores", static_cast<std::int64_t>(run.team().size())}}};
  judge_last_sample(session, which, buffers, right, reference_pulls);
  run.measure(session, describe(which), [&] { restore(buffers); });
}

}  // namespace strata::nbody
