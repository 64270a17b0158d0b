#include "nbody/fstat/host/host_rung.hpp"

#include "nbody/fstat/rung_experiment.hpp"

#include <algorithm>
#include <limits>

namespace strata::fstat {
namespace {

constexpr float poison = std::numeric_limits<float>::quiet_NaN();

/// An observation in pieces, and where its results go.
class Buffers {
 public:
  explicit Buffers(const Observation& seen)
      : seen_{seen},
        memory_(Pieces::bytes_of(seen)),
        pieces_{seen, memory_},
        results_{.sums = std::vector<Sums>(seen.problem.results()),
                 .two_f = std::vector<float>(seen.problem.results())} {
    restore();
  }
  void restore() {
    std::ranges::fill(results_.sums, Sums{poison, poison, poison, poison});
    std::ranges::fill(results_.two_f, poison);
  }
  [[nodiscard]] HostPass pass(Tracer* tracer = nullptr) {
    return {.seen = &seen_,
            .pieces = &pieces_,
            .sums = results_.sums,
            .two_f = results_.two_f,
            .tracer = tracer};
  }
  [[nodiscard]] const HostResults& results() const { return results_; }

 private:
  const Observation& seen_;
  std::vector<std::byte> memory_;
  Pieces pieces_;
  HostResults results_;
};

}  // namespace

HostResults pass_on_host(const HostKernel& kernel, ThreadTeam& team, const Observation& seen) {
  Buffers buffers{seen};
  const HostPass pass = buffers.pass();
  kernel.run({&pass, 1}, team);
  return buffers.results();
}

std::vector<double> seconds_of_core() {
  constexpr std::size_t samples = 15;
  const Observation seen = generate({.sky = 1, .cells = 1, .stacks = 2});
  const HostKernel kernel = maker_of<MakeHostKernel>("fstat_serial")(seen, Vectors::none);
  Buffers buffers{seen};
  const HostPass pass = buffers.pass();
  HostRun run{[&](ThreadTeam& team) { kernel.run({&pass, 1}, team); }};  // on one core of them
  const auto seconds = [&] { return run.seconds() / seen.terms(); };
  (void)seconds();  // caches are warm
  std::vector<double> all(samples);
  std::ranges::generate(all, seconds);
  return all;
}

void measure_rung(Session& session, const Rung& rung, MakeHostKernel make) {
  const Case& which = shared_case(session, problem_of(session));
  const HostKernel kernel = make(which.seen, widest_vectors());
  Buffers buffers{which.seen};
  const HostPass pass = buffers.pass(session.tracer());
  HostRun run{[&](ThreadTeam& team) { kernel.run({&pass, 1}, team); }};
  require_time_for_samples(session.plan(), run.seconds(), "a pass");
  const HostResults verified = buffers.results();
  const std::size_t cores = kernel.one_core ? 1 : run.team().size();

  const RungCase described{
      .rung = rung,
      .terms = which.seen.terms(),
      .results = which.seen.problem.results(),
      .accuracy = accuracy_of(which, verified.sums, verified.two_f, rung.approximate),
      .cores = cores,
      .different_at_end = [&] { return different(buffers.results().two_f, verified.two_f); },
      .sample =
          [&] {
            const HostPhase summing{session.tracer(), StepPhase::sum};
            return run.seconds();
          },
      .facts = {{"instructions", kernel.instructions},
                {"cores", static_cast<std::int64_t>(cores)}}};
  run.measure(session, describe(described), [&] { buffers.restore(); });
}

}  // namespace strata::fstat
