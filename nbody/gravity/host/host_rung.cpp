#include "nbody/gravity/host/host_rung.hpp"

#include "harness/case/error.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace strata::nbody {
namespace {

constexpr double sample_seconds = 1e-2;  // a sample lasts as long, or one step
constexpr std::uint32_t most_steps = 1U << 16U;
constexpr float poison = std::numeric_limits<float>::quiet_NaN();

std::map<std::string, MakeHostKernel, std::less<>>& host_kernels() {
  static std::map<std::string, MakeHostKernel, std::less<>> all;
  return all;
}

/// The bodies before and after a step, and their accelerations.
class StepBuffers {
 public:
  StepBuffers(std::string_view layout, const Bodies& bodies, bool moves)
      : systems_{bodies.systems},
        bodies_{bodies.bodies},
        moves_{moves},
        begin_{words_of(layout, bodies)},
        from_(begin_.size()),
        to_(begin_.size()),
        acceleration_(3 * bodies.total()) {}

  /// Restores the bodies and poisons what results overwrite.
  void restore() {
    std::ranges::copy(begin_, from_.begin());
    std::ranges::fill(to_, poison);
    std::ranges::fill(acceleration_, poison);
  }

  /// So many steps, from the bodies that restore() leaves.
  [[nodiscard]] std::vector<Step> steps(std::size_t count, float time) {
    std::vector<Step> all;
    all.reserve(count);
    float* from = from_.data();
    float* to = to_.data();
    for (std::size_t s = 0; s < count; ++s) {
      all.push_back({.from = from,
                     .to = moves_ ? to : nullptr,
                     .acceleration = moves_ ? nullptr : acceleration_.data(),
                     .systems = systems_,
                     .bodies = bodies_,
                     .softening_squared = softening_squared,
                     .time_step = time});
      if (moves_) std::swap(from, to);
    }
    last_in_from_ = from == from_.data();
    return all;
  }

  /// Where the latest steps() leave the bodies.
  [[nodiscard]] std::span<const float> moved() const { return last_in_from_ ? from_ : to_; }
  [[nodiscard]] Error error(std::span<const Pull> right) const {
    return error_of(right, acceleration_);
  }

 private:
  std::uint32_t systems_;
  std::uint32_t bodies_;
  bool moves_;
  std::vector<float> begin_;
  std::vector<float> from_;
  std::vector<float> to_;
  std::vector<float> acceleration_;
  bool last_in_from_ = true;
};

struct Observation {
  double seconds = 0;      ///< of one step, by the system's clock
  double tsc_seconds = 0;  ///< the same by the core's counter
  double hertz = 0;        ///< of that counter
};

/// What the protocol measures: some steps, always from the same bodies.
class LadderRun {
 public:
  LadderRun(const ReferenceProblem& right, HostKernel kernel, ThreadTeam& team,
            std::string_view layout, bool moves)
      : kernel_{std::move(kernel)}, team_{team}, buffers_{layout, right.bodies, moves} {}

  /// Decides how many steps a sample has. Throws Skipped where samples could not be taken in time.
  void shape(const Plan& plan) {
    steps_ = buffers_.steps(1, time_step);
    buffers_.restore();
    double seconds = observe().seconds;
    const double all = seconds * (plan.warmups + plan.min_samples);
    if (all > plan.time_limit / 2) {
      throw Skipped{
          fmt::format("{} samples of one step would take {:.0f} s of the {:.0f} s that a "
                      "case may take",
                      plan.warmups + plan.min_samples, all, plan.time_limit)};
    }
    if (seconds < sample_seconds) {
      buffers_.restore();
      seconds = std::min(seconds, observe().seconds);  // now with warm caches
    }
    const double count = std::ceil(sample_seconds / std::max(seconds, 1e-9));
    steps_ = buffers_.steps(
        static_cast<std::size_t>(std::clamp(count, 1.0, static_cast<double>(most_steps))),
        time_step);
  }

  void prepare() { buffers_.restore(); }

  Observation observe() {
    const double began = monotonic_raw_seconds();
    const std::uint64_t start = tsc_now();
    kernel_.run(steps_, team_);
    const auto ticks = static_cast<double>(tsc_now() - start);
    const double seconds = monotonic_raw_seconds() - began;
    const auto count = static_cast<double>(steps_.size());
    return {.seconds = seconds / count,
            .tsc_seconds = ticks / tsc_hertz() / count,
            .hertz = ticks / seconds};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.seconds, seen.tsc_seconds};
  }
  [[nodiscard]] const HostKernel& kernel() const { return kernel_; }
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }
  [[nodiscard]] const StepBuffers& buffers() const { return buffers_; }

 private:
  HostKernel kernel_;
  ThreadTeam& team_;
  StepBuffers buffers_;
  std::vector<Step> steps_;
};

void report(Session& session, const Problem& problem, const Collection<Observation>& seen) {
  const Timed timed{session, seen};
  const double interactions = problem.interactions();
  timed.add("interactions_per_second", "1/s", "monotonic",
            [&](const Observation& o) { return interactions / o.seconds; });
  timed.add("interactions_per_second", "1/s", "tsc",
            [&](const Observation& o) { return interactions / o.tsc_seconds; });
  timed.add("step_time", "s", "monotonic", &Observation::seconds);
  timed.add("step_time", "s", "tsc", &Observation::tsc_seconds);
  timed.timers(&Observation::tsc_seconds, "tsc", &Observation::seconds, "monotonic");
  timed.core_clock("tsc_over_monotonic", &Observation::hertz);
  const double rate = interactions / median(seen.series(&Observation::seconds));
  add_modelled(session, "nominal_flops_per_second", "FLOP/s", "flop_20", nominal_flops * rate);
}

}  // namespace

std::string_view to_string(Vectors vectors) {
  switch (vectors) {
    case Vectors::none:
      return "none";
    case Vectors::avx2:
      return "avx2";
    case Vectors::avx512:
      return "avx512";
  }
  return "unknown";
}

Vectors widest_vectors() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Vectors::none;
  return __builtin_cpu_supports("avx512f") ? Vectors::avx512 : Vectors::avx2;
#else
  return Vectors::none;
#endif
}

bool add_host_kernel(const Rung& rung, MakeHostKernel make) {
  return host_kernels().emplace(rung.name, make).second;
}

MakeHostKernel host_kernel(std::string_view name) {
  const auto found = host_kernels().find(name);
  if (found == host_kernels().end()) {
    throw std::out_of_range{fmt::format("there is no rung '{}' on the CPU", name)};
  }
  return found->second;
}

Verification verify_on_host(const HostKernel& kernel, ThreadTeam& team, std::string_view layout,
                            const Bodies& bodies, bool moves, std::span<const Pull> right) {
  const Bodies still = at_rest(bodies);
  StepBuffers buffers{layout, still, moves};
  const auto steps = buffers.steps(1, 1.0F);
  const auto after = buffers.moved();
  buffers.restore();
  kernel.run(steps, team);
  if (!moves) return {.error = buffers.error(right)};
  return verification_of(still, bodies_of(layout, after, still.systems, still.bodies), right);
}

void measure_host_rung(Session& session, const Rung& rung, MakeHostKernel make) {
  const HostKernel kernel = make(widest_vectors());
  const Problem problem = problem_of(session);
  const std::string& layout = session.param("layout");
  const bool moves = problem.moves();
  const ReferenceProblem& right = reference_problem(session, problem, reference_pulls);
  ThreadTeam team{allowed_cpus()};

  LadderRun ladder_run{right, kernel, team, layout, moves};
  ladder_run.shape(session.plan());
  const Verification first = verify_on_host(kernel, team, layout, right.bodies, moves, right.pulls);
  add_gates(session, rung, problem, first);
  report_error(session, first.error);
  session.fact("steps", static_cast<std::int64_t>(ladder_run.steps()));
  session.fact("layout", layout);
  session.fact("change", rung.change);
  session.fact("before", rung.before);
  session.fact("instructions", kernel.instructions);
  session.fact("cores", static_cast<std::int64_t>(team.size()));

  const auto seen = collect(ladder_run, session.plan());
  report(session, problem, seen);
  if (moves) {
    const Bodies moved =
        bodies_of(layout, ladder_run.buffers().moved(), problem.systems, problem.bodies);
    report_drift(session, right.conserved.value(), conserved(moved, reference_pulls(moved)));
  } else {
    session.add(accuracy_gate(rung, problem.bodies, ladder_run.buffers().error(right.pulls),
                              "accelerations of the last sample"));
  }
}

}  // namespace strata::nbody
