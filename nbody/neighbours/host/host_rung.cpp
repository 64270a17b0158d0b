#include "nbody/neighbours/host/host_rung.hpp"

#include "nbody/neighbours/rung_experiment.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace strata::neighbours {
namespace {

constexpr float poison = std::numeric_limits<float>::quiet_NaN();

/// Inputs and outputs of the steps of a case.
class Buffers {
 public:
  Buffers(const Problem& problem, const Agents& agents, std::size_t threads)
      : problem_{problem},
        begin_{padded(agents)},
        from_{begin_},
        to_{begin_},
        counts_(problem.agents),
        nearest_(std::size_t{nearest_count} * problem.agents),
        lists_{problem.agents, threads},
        work_(threads) {}

  /// The agents as they were, and poison where results go.
  void restore() {
    from_ = begin_;
    for (auto& part : to_.parts)
      std::ranges::fill(part, poison);
    if (problem_.kind == Kind::circles) {  // whose directions no step writes
      for (const Part p : {Part::fx, Part::fy, Part::fz, Part::speed})
        to_.part(p) = begin_.part(p);
    }
    poison_results();
    std::ranges::fill(work_, Work{});
  }
  void poison_results() {
    std::ranges::fill(counts_, no_agent);
    std::ranges::fill(nearest_, no_agent);
    lists_.poison();
  }

  /// If agents move, each step starts from the result of the previous one.
  std::vector<Step> steps(std::size_t count, Tracer* tracer = nullptr) {
    std::vector<Step> all;
    for (std::size_t s = 0; s < count; ++s) {
      const bool back = problem_.moves() && s % 2 == 1;
      all.push_back({.problem = &problem_,
                     .from = back ? &to_ : &from_,
                     .to = back ? &from_ : &to_,
                     .counts = counts_.data(),
                     .nearest = nearest_.data(),
                     .lists = &lists_,
                     .work = work_.data(),
                     .first = s == 0,
                     .tracer = tracer});
    }
    return all;
  }

  /// The outcome of a step from and to these agents, which must outlive it, as must the buffers.
  [[nodiscard]] Outcome outcome(const Agents& from, const Agents& left) const {
    return {.from = from,
            .left = left,
            .count = [this](std::size_t i) { return count(i); },
            .neighbours = [this](std::size_t i) { return neighbours(i); }};
  }
  /// Adds what all threads did since the buffers were restored.
  void add_work(Verification& to) const {
    for (const Work& one : work_) {
      to.tests.made += one.tests;
      to.tests.lanes += one.lanes;
      to.rebuilds += one.rebuilds;
    }
  }
  [[nodiscard]] Agents without_padding(const Agents& agents) const {
    Agents all = agents;
    for (auto& part : all.parts)
      part.resize(problem_.agents);
    return all;
  }
  /// The agents after a step.
  [[nodiscard]] const Agents& left_by(const Step& step) const {
    return problem_.moves() ? *step.to : *step.from;
  }

 private:
  [[nodiscard]] std::uint32_t count(std::size_t i) const {
    return problem_.kind == Kind::list ? lists_.count(i) : counts_[i];
  }
  [[nodiscard]] std::span<const std::uint32_t> neighbours(std::size_t i) const {
    if (problem_.kind == Kind::list) return lists_.of(i);
    const auto row = std::span{nearest_}.subspan(i * nearest_count, nearest_count);
    return row.first(static_cast<std::size_t>(std::ranges::find(row, no_agent) - row.begin()));
  }
  static Agents padded(Agents agents) {
    for (auto& part : agents.parts)
      part.resize(part.size() + padding);
    return agents;
  }

  Problem problem_;
  Agents begin_;
  Agents from_;
  Agents to_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> nearest_;
  ListPools lists_;
  std::vector<Work> work_;
};

}  // namespace

Verification verify_on_host(const HostKernel& kernel, ThreadTeam& team, const Problem& problem,
                            const ReferenceStep& right, std::size_t count) {
  Verification verification;
  Buffers buffers{problem, right.agents, team.size()};
  buffers.restore();
  const std::vector<Step> steps = buffers.steps(count);
  for (const Step& step : steps) {
    const Agents from = buffers.without_padding(*step.from);
    buffers.poison_results();
    kernel.run({&step, 1}, team);
    const Agents left = buffers.without_padding(buffers.left_by(step));
    verify_step(verification, problem, right, buffers.outcome(from, left),
                static_cast<std::size_t>(&step - steps.data()), count);
  }
  buffers.add_work(verification);
  return verification;
}

void measure_rung(Session& session, const Rung& rung, MakeHostKernel make) {
  const Problem problem = problem_of(session);
  const Choice choice = choice_of(session);
  const HostKernel kernel = make(problem, choice, widest_vectors());
  const ReferenceStep& right = shared_reference(session, problem);
  std::vector<Step> steps;
  HostRun run{[&](ThreadTeam& team) { kernel.run(steps, team); }};
  Buffers buffers{problem, right.agents, run.team().size()};
  steps = buffers.steps(1);
  buffers.restore();
  require_time_for_samples(session.plan(), run.seconds() * static_cast<double>(choice.steps),
                           "the steps");
  steps = buffers.steps(choice.steps, session.tracer());

  const Verification verified = verify_on_host(kernel, run.team(), problem, right, choice.steps);
  RungCase which = case_of(rung, problem, verified,
                           tests_of(rung)(problem, verified.places_before_each_step(), choice));
  which.facts = {{"instructions", kernel.instructions},
                 {"cores", static_cast<std::int64_t>(run.team().size())}};
  which.sample = [&] {
    const HostPhase searching{session.tracer(), StepPhase::search};
    return run.seconds();
  };
  which.different_at_end = [&] {
    const Agents from = buffers.without_padding(*steps.back().from);
    const Agents left = buffers.without_padding(buffers.left_by(steps.back()));
    return different_at_end(problem, right, verified, buffers.outcome(from, left));
  };
  run.measure(session, describe(which), [&] { buffers.restore(); });
}

}  // namespace strata::neighbours
