#include "nbody/neighbours/rung_experiment.hpp"

#include "harness/measure/step_rows.hpp"

#include <algorithm>
#include <cmath>

namespace strata::neighbours {
namespace {

/// Kernels that several rungs launch, and fills: a rung names those of its own.
const std::vector<KernelPhase> shared_kernels{{"step_of", StepPhase::search},
                                              {"count_agents", StepPhase::build},
                                              {"put_ids", StepPhase::build},
                                              {"put_agents", StepPhase::build},
                                              {"put_in_order", StepPhase::build},
                                              {"draw", StepPhase::copy_out},
                                              {"DeviceScanInitKernel", StepPhase::build},
                                              {"DeviceScanKernel", StepPhase::build},
                                              {fill_name, StepPhase::build}};

/// What is traced of the case.
TracePlan trace_plan(const RungCase& which) {
  TracePlan plan{.run = which.sample,
                 .kernels = shared_kernels,
                 .steps = static_cast<double>(which.steps),
                 .different = which.different_at_end};
  const auto& own = which.rung.kernel_phases;
  plan.kernels.insert(plan.kernels.end(), own.begin(), own.end());
  const Traffic& traffic = which.counted.traffic;
  if (which.rung.backend == Backend::cuda) {
    plan.queued = {.copies = traffic.copies, .bytes = traffic.bytes, .launches = traffic.launches};
  }
  return plan;
}

/// Three differences, a square and two fused multiply-adds.
constexpr double fp32_of_test = 6;
constexpr double tests_bound = 0.01;  // counted against predicted distance tests

/// `amount` of a step, a second, of the seconds that are a number of the sample.
Row rate(const RungCase& which, const char* quantity, double amount, const Method& method,
         std::size_t number) {
  const double all = amount * static_cast<double>(which.steps);
  return {quantity, "1/s", method,
          [=](const Sample& seen) { return all / seen.numbers.at(number); }};
}

bool has_idle_threads(const RungCase& which) {
  return which.counted.idle.all + which.predicted.idle.all > 0;
}

/// Gate `model`: the counts follow from the definition of the data structure.
void judge_counts_of(Session& session, const RungCase& which) {
  const auto& counted = which.counted;
  const auto& predicted = which.predicted;
  std::vector<ComparedCount> numbers{
      {"distance tests per step", counted.tests, predicted.tests, tests_bound},
      {"rebuilds", counted.rebuilds, static_cast<double>(predicted.rebuilds)}};
  if (which.rung.backend == Backend::cuda) {
    numbers.push_back({"of the threads used", counted.used, predicted.used, tests_bound});
    const auto number = [](std::uint64_t idle) { return static_cast<double>(idle); };
    numbers.push_back(
        {"threads without an agent", number(counted.idle.all), number(predicted.idle.all)});
    numbers.push_back(
        {"of them in active warps", number(counted.idle.active), number(predicted.idle.active)});
  }
  session.as_predicted(numbers);
  if (which.rung.backend != Backend::cuda) return;
  judge_queued(session, which.counted.traffic, which.predicted_traffic);
}

/// Rows of threads without an agent.
void add_idle(std::vector<Constant>& rows, const RungCase& which, const IdleThreads& idle,
              Provenance provenance, const char* method) {
  const auto steps = static_cast<double>(which.steps);
  rows.push_back({"idle_threads", "1", provenance, method, static_cast<double>(idle.all) / steps});
  rows.push_back(
      {"active_idle_threads", "1", provenance, method, static_cast<double>(idle.active) / steps});
}

/// Agent steps a second, if the warps of all SMs issued nothing but the tests of a search, those
/// of idle threads among them, and in every cycle of the clock that was held.
void add_issue_limit(Session& session, const RungCase& which, const std::vector<Sample>& samples) {
  const double slots = which.rung.costs.issue_slots * which.counted.tests / which.counted.used;
  if (which.sms == 0 || slots == 0) return;
  const double lanes = lane_slots_per_second(samples, /*hertz=*/2, which.sms);
  session.add({.quantity = "issue_limit",
               .unit = "1/s",
               .provenance = Provenance::modelled,
               .method = "issue_slots",
               .samples = {which.problem.agents * lanes / slots}});
}

}  // namespace

RungCase case_of(const Rung& rung, const Problem& problem, const Verification& verified,
                 const Predicted& predicted) {
  const auto tests = static_cast<double>(verified.tests.made);
  const std::size_t steps = verified.before_each_step.size();
  const auto lanes = static_cast<double>(std::max<std::uint64_t>(verified.tests.lanes, 1));
  return {.rung = rung,
          .problem = problem,
          .steps = steps,
          .checked = verified.checked,
          .wrong = verified.wrong,
          .motion = verified.motion,
          .counted = {.tests = tests / static_cast<double>(steps),
                      .used = tests / lanes,
                      .rebuilds = static_cast<double>(verified.rebuilds),
                      .neighbours = verified.neighbours,
                      .idle = verified.tests.idle},
          .predicted = predicted};
}

Experiment describe(const RungCase& which) {
  const char* const inner = which.rung.backend == Backend::cuda ? "globaltimer" : "tsc";
  const double agents = which.problem.agents;
  Experiment experiment;
  for (const auto& [method, number] :
       {std::pair{Method{By::whole}, std::size_t{0}}, std::pair{Method{inner}, std::size_t{1}}}) {
    experiment.rows.push_back(rate(which, "agent_steps_per_second", agents, method, number));
    experiment.rows.push_back(rate(which, "steps_per_second", 1, method, number));
    // A single agent has no neighbours, and so no rate.
    if (which.counted.neighbours > 0) {
      experiment.rows.push_back(
          rate(which, "neighbours_per_second", which.counted.neighbours, method, number));
    }
  }
  experiment.constants = {
      {"distance_tests", "1", Provenance::counted, "code", which.counted.tests},
      {"distance_tests", "1", Provenance::modelled, "model", which.predicted.tests},
      {"used_threads", "1", Provenance::counted, "code", which.counted.used},
      {"rebuilds", "1", Provenance::counted, "code", which.counted.rebuilds},
      {"rebuilds", "1", Provenance::modelled, "model",
       static_cast<double>(which.predicted.rebuilds)},
      {"wrong_neighbours", "1", Provenance::modelled, "fp64_reference",
       static_cast<double>(which.wrong)}};
  time_by_both(experiment, which.rung.backend);
  if (which.rung.backend == Backend::cuda) {
    auto& rows = experiment.constants;
    rows.push_back({"used_threads", "1", Provenance::modelled, "model", which.predicted.used});
    if (which.predicted.used > 0) {
      rows.push_back({"fp32_instructions", "1", Provenance::modelled, "model",
                      fp32_of_test * which.predicted.tests / which.predicted.used});
    }
    if (has_idle_threads(which)) {
      add_idle(rows, which, which.counted.idle, Provenance::counted, "code");
      add_idle(rows, which, which.predicted.idle, Provenance::modelled, "model");
    }
    const Build& build = which.predicted_build;
    const auto add_build = [&](const char* quantity, const char* unit, double value) {
      if (value > 0) rows.push_back({quantity, unit, Provenance::modelled, "model", value});
    };
    add_build("build_bytes", "B", build.bytes);
    add_build("build_instructions", "1", build.instructions);
    if (which.least_step > 0) {
      rows.push_back({"bytes_limit", "1/s", Provenance::modelled, "dram_pins",
                      which.problem.agents / which.least_step});
    }
    add_queued(rows, which.counted.traffic, which.predicted_traffic, which.steps);
  }
  if (which.sample) experiment.trace = trace_plan(which);
  experiment.checked = "neighbours of every agent in the first and the last step";
  experiment.tally = {.checked = which.checked, .different = which.wrong};
  experiment.not_counted = which.rung.backend == Backend::cuda
                               ? "its steps are several kernels"
                               : "the counter sets do not cover CPUs";
  if (which.problem.moves()) {
    experiment.accuracy = [motion = which.motion](Session& /*session*/) { return motion; };
  }
  experiment.conclude = [which](Session& session, const std::vector<Sample>& samples) {
    judge_counts_of(session, which);
    add_issue_limit(session, which, samples);
    const std::size_t different = which.different_at_end();
    session.none_of("result", different, which.problem.agents,
                    "agents differ between the last sample and the verified steps");
  };
  experiment.facts = [which](const Experiment&) {
    Facts facts = which.facts;
    facts.insert({{"steps", static_cast<std::int64_t>(which.steps)},
                  {"change", which.rung.change},
                  {"before", which.rung.before}});
    return facts;
  };
  return experiment;
}

}  // namespace strata::neighbours
