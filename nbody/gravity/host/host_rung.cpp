#include "nbody/gravity/host/host_rung.hpp"

#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/host_steps.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"

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
  ThreadTeam team{allowed_cpus()};
  HostMachine machine;
  HostSteps buffers{layout, right.bodies, moves};
  std::vector<Step> steps = buffers.steps(1, time_step);
  const auto run_steps = machine.on_every_core([&](std::size_t /*rank*/, const Call& /*call*/) {
    kernel.run(steps, team);
    return std::uint64_t{0};
  });
  const auto seconds = [&] { return machine.time([&] { run_steps({}); }, /*held=*/false); };
  const std::size_t count = steps_of_sample(session.plan(), [&] {
    restore(buffers);
    return seconds();
  });
  steps = buffers.steps(count, time_step);

  RungCase which{.rung = rung,
                 .problem = problem,
                 .steps = count,
                 .verified = verify_on_host(kernel, team, layout, right.bodies, moves, right.pulls),
                 .facts = {{"layout", layout},
                           {"instructions", kernel.instructions},
                           {"cores", static_cast<std::int64_t>(team.size())}}};
  judge_last_sample(which, buffers, right, reference_pulls);
  Experiment experiment = describe(which);
  experiment.prepare = [&] { restore(buffers); };
  experiment.observe = [&] { return by_both_clocks(machine, seconds()); };
  measure(session, machine, experiment);
}

}  // namespace strata::nbody
