#include "nbody/gravity/host/host_rung.hpp"

#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/measure/engine.hpp"

#include <fmt/format.h>

#include <limits>

namespace strata::nbody {
namespace {

constexpr double sample_seconds = 1e-2;  // a sample lasts as long, or one step
constexpr double most_steps = 65536;
constexpr float poison = std::numeric_limits<float>::quiet_NaN();

using HostSteps = StepBuffers<std::vector<float>>;
/// Restores the bodies and poisons what results overwrite.
void restore(HostSteps& steps) {
  std::ranges::copy(steps.begin, steps.from.begin());
  std::ranges::fill(steps.to, poison);
  std::ranges::fill(steps.acceleration, poison);
}

/// How many steps a sample has; seconds_of_step() takes one. Throws Skipped where samples could not
/// be taken in time.
std::size_t steps_of_sample(const Plan& plan, const std::function<double()>& seconds_of_step) {
  const int samples = plan.warmups + plan.min_samples;
  double seconds = seconds_of_step();
  const double all = seconds * samples;
  if (all > plan.time_limit / 2) {
    throw Skipped{fmt::format(
        "{} samples of one step would take {:.0f} s of the {:.0f} s that a case may take", samples,
        all, plan.time_limit)};
  }
  if (seconds < sample_seconds) seconds = std::min(seconds, seconds_of_step());  // caches are warm
  const double count = std::ceil(sample_seconds / std::max(seconds, 1e-9));
  return static_cast<std::size_t>(std::clamp(count, 1.0, most_steps));
}

}  // namespace

Vectors widest_vectors() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Vectors::none;
  return __builtin_cpu_supports("avx512f") ? Vectors::avx512 : Vectors::avx2;
#else
  return Vectors::none;
#endif
}

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
  experiment.observe = [&]() -> std::vector<double> {
    const double outer = seconds();
    const Stamp& stamp = machine.stamps().front();
    const auto ticks = static_cast<double>(stamp.cycles[1] - stamp.cycles[0]);
    return {outer, ticks / tsc_hertz(), ticks / outer};
  };
  measure(session, machine, experiment);
}

}  // namespace strata::nbody
