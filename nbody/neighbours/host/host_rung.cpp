#include "nbody/neighbours/host/host_rung.hpp"

#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/host_steps.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "nbody/neighbours/rung_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>

namespace strata::neighbours {
namespace {

constexpr float poison = std::numeric_limits<float>::quiet_NaN();

/// Where the steps of a case read and write.
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
    if (problem_.kind == Kind::circles) {  // whose directions nobody writes
      for (const Part p : {Part::fx, Part::fy, Part::fz, Part::speed})
        to_.part(p) = begin_.part(p);
    }
    poison_results();
    std::ranges::fill(work_, Work{});
  }
  void poison_results() {
    std::ranges::fill(counts_, nobody);
    std::ranges::fill(nearest_, nobody);
    lists_.poison();
  }

  /// So many steps, from the first on. Where agents move, each starts from what the one before
  /// left.
  std::vector<Step> steps(std::size_t count) {
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
                     .first = s == 0});
    }
    return all;
  }

  /// Neighbours that an agent has after a step, where their numbers are written; else how many.
  [[nodiscard]] std::uint32_t count(std::size_t i) const {
    return problem_.kind == Kind::list ? lists_.count(i) : counts_[i];
  }
  [[nodiscard]] std::span<const std::uint32_t> neighbours(std::size_t i) const {
    if (problem_.kind == Kind::list) return lists_.of(i);
    const auto row = std::span{nearest_}.subspan(i * nearest_count, nearest_count);
    return row.first(static_cast<std::size_t>(std::ranges::find(row, nobody) - row.begin()));
  }
  [[nodiscard]] std::vector<std::uint32_t> counts() const {
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < problem_.agents; ++i)
      all.push_back(count(i));
    return all;
  }
  /// What all threads did since the buffers were restored.
  [[nodiscard]] Work work() const {
    Work all;
    for (const Work& one : work_) {
      all.tests += one.tests;
      all.lanes += one.lanes;
      all.rebuilds += one.rebuilds;
    }
    return all;
  }
  [[nodiscard]] Agents without_padding(const Agents& agents) const {
    Agents all = agents;
    for (auto& part : all.parts)
      part.resize(problem_.agents);
    return all;
  }
  /// Where a step leaves the agents.
  [[nodiscard]] const Agents& left_by(const Step& step) const {
    return problem_.moves() ? *step.to : *step.from;
  }

 private:
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

/// How many agents have wrong neighbours after a step; of circles, whose neighbours are not
/// written, a wrong number of them.
std::size_t wrong_after(const Problem& problem, const Buffers& buffers, const Places& places,
                        const Lists& right, double slack) {
  const auto radius_squared = static_cast<double>(problem.radius_squared);
  if (problem.kind != Kind::circles) {
    // A row that says other than its count is wrong as well.
    static constexpr std::array<std::uint32_t, 1> none_of_them{nobody};
    return agents_with_wrong_neighbours(
        places, radius_squared, only_nearest(problem.kind), right,
        [&](std::size_t i) -> std::span<const std::uint32_t> {
          const auto found = buffers.neighbours(i);
          if (buffers.count(i) != found.size()) return none_of_them;
          return found;
        },
        slack);
  }
  // With slack, as many may be missing or too many as there are pairs so near the reach.
  const Lists inner = slack > 0 ? search(places, radius_squared * (1 - slack), false).lists : right;
  const Lists outer = slack > 0 ? search(places, radius_squared * (1 + slack), false).lists : right;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < problem.agents; ++i) {
    const std::uint32_t count = buffers.count(i);
    wrong += count >= inner.of(i).size() && count <= outer.of(i).size() ? 0 : 1;
  }
  return wrong;
}

/// Agents that are not the same, bit for bit.
std::size_t different(const Agents& one, const Agents& other) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    bool same = true;
    for (std::size_t p = 0; p < part_count; ++p) {
      same = same && std::bit_cast<std::uint32_t>(one.parts[p][i]) ==
                         std::bit_cast<std::uint32_t>(other.parts[p][i]);
    }
    count += same ? 0 : 1;
  }
  return count;
}

/// The problem's agents and their first step, which all rungs share.
const ReferenceStep& shared_reference(Session& session, const Problem& problem) {
  const std::string key = fmt::format("neighbours/{}/{}/{}/{}", to_string(problem.kind),
                                      to_string(problem.spread), problem.agents, problem.world);
  return session.cache().keep<ReferenceStep>(
      key, [&] { return reference_step(problem, generate(problem)); });
}

}  // namespace

ReferenceStep reference_step(const Problem& problem, Agents agents) {
  ReferenceStep step{.agents = std::move(agents), .places = {}, .neighbours = {}, .motion = {}};
  step.places = places_of(step.agents);
  step.neighbours =
      search(step.places, static_cast<double>(problem.radius_squared), only_nearest(problem.kind))
          .lists;
  step.motion = motion_of(problem, in_double(step.agents), step.neighbours);
  return step;
}

Verification verify_on_host(const HostKernel& kernel, ThreadTeam& team, const Problem& problem,
                            const ReferenceStep& right, std::size_t count) {
  constexpr double rounding = 0x1p-21;  // of the square of a distance in single precision
  Verification verification;
  Buffers buffers{problem, right.agents, team.size()};
  buffers.restore();
  double neighbours = 0;
  const std::vector<Step> steps = buffers.steps(count);
  for (const Step& step : steps) {
    verification.before_each_step.push_back(buffers.without_padding(*step.from));
    buffers.poison_results();
    kernel.run({&step, 1}, team);
    for (std::size_t i = 0; i < problem.agents; ++i)
      neighbours += buffers.count(i);
    const bool first = &step == &steps.front();
    if (first) {
      verification.wrong +=
          wrong_after(problem, buffers, right.places, right.neighbours, /*slack=*/0);
      if (problem.moves()) {
        verification.motion =
            accuracy_of(problem, buffers.without_padding(buffers.left_by(step)), right.motion);
      }
    } else if (&step == &steps.back()) {
      const Places places = places_of(verification.before_each_step.back());
      const bool moved = problem.moves();
      verification.wrong +=
          wrong_after(problem, buffers, places,
                      moved ? search(places, static_cast<double>(problem.radius_squared),
                                     only_nearest(problem.kind))
                                  .lists
                            : right.neighbours,
                      moved ? rounding : 0);
    } else {
      continue;
    }
    verification.checked += problem.agents;
  }
  verification.end = buffers.without_padding(buffers.left_by(steps.back()));
  verification.end_counts = buffers.counts();
  verification.neighbours = neighbours / static_cast<double>(count);
  verification.work = buffers.work();
  return verification;
}

void measure_rung(Session& session, const Rung& rung, MakeHostKernel make) {
  const Problem problem = problem_of(session);
  const Choice choice = choice_of(session);
  const HostKernel kernel = make(problem, choice, widest_vectors());
  const ReferenceStep& right = shared_reference(session, problem);
  ThreadTeam team{allowed_cpus()};
  HostMachine machine;
  Buffers buffers{problem, right.agents, team.size()};
  std::vector<Step> steps = buffers.steps(1);
  const auto run_steps = machine.on_every_core([&](std::size_t /*rank*/, const Call& /*call*/) {
    kernel.run(steps, team);
    return std::uint64_t{0};
  });
  const auto seconds = [&] { return machine.time([&] { run_steps({}); }, /*held=*/false); };
  buffers.restore();
  require_time_for_samples(session.plan(), seconds() * steps_of_sample, "eight steps");
  steps = buffers.steps(steps_of_sample);

  const Verification verified = verify_on_host(kernel, team, problem, right, steps_of_sample);
  std::vector<Places> before_each_step;
  for (const Agents& agents : verified.before_each_step)
    before_each_step.push_back(places_of(agents));
  const auto lanes = static_cast<double>(std::max<std::uint64_t>(verified.work.lanes, 1));
  RungCase which{.rung = rung,
                 .problem = problem,
                 .checked = verified.checked,
                 .wrong = verified.wrong,
                 .motion = verified.motion,
                 .counted = {.tests = static_cast<double>(verified.work.tests) / steps_of_sample,
                             .used = static_cast<double>(verified.work.tests) / lanes,
                             .rebuilds = static_cast<double>(verified.work.rebuilds),
                             .neighbours = verified.neighbours},
                 .predicted = rung.predicted_tests(problem, before_each_step, choice),
                 .different_at_end =
                     [&] {
                       std::size_t count = different(buffers.left_by(steps.back()), verified.end);
                       const std::vector<std::uint32_t> counts = buffers.counts();
                       for (std::size_t i = 0; i < counts.size(); ++i)
                         count += counts[i] == verified.end_counts[i] ? 0 : 1;
                       if (problem.moves()) return count;
                       return count +
                              wrong_after(problem, buffers, right.places, right.neighbours, 0);
                     },
                 .facts = {{"instructions", kernel.instructions},
                           {"cores", static_cast<std::int64_t>(team.size())}}};
  Experiment experiment = describe(which);
  experiment.prepare = [&] { buffers.restore(); };
  experiment.observe = [&] { return by_both_clocks(machine, seconds()); };
  measure(session, machine, experiment);
}

}  // namespace strata::neighbours
