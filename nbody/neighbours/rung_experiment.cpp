#include "nbody/neighbours/rung_experiment.hpp"

#include <algorithm>
#include <utility>

namespace strata::neighbours {
namespace {

/// Three differences, a square and two fused multiply-adds.
constexpr double fp32_of_test = 6;

/// Counts that follow from the definition of the data structure.
std::vector<ComparedCount> compared(const RungCase& which) {
  const auto& counted = which.counted;
  const auto& predicted = which.predicted;
  std::vector<ComparedCount> numbers{
      {"distance tests per step", counted.tests, predicted.tests, tests_bound},
      {"rebuilds", counted.rebuilds, static_cast<double>(predicted.rebuilds)}};
  if (which.rung.backend != Backend::cuda) return numbers;
  const auto add = [&](const char* what, std::uint64_t seen, std::uint64_t wanted) {
    numbers.push_back({what, static_cast<double>(seen), static_cast<double>(wanted)});
  };
  numbers.push_back({"of the threads used", counted.used, predicted.used, tests_bound});
  add("threads without an agent", counted.idle.all, predicted.idle.all);
  add("of them in active warps", counted.idle.active, predicted.idle.active);
  return numbers;
}

std::vector<TimedQuantity> timed(const RungCase& which) {
  std::vector<TimedQuantity> all;
  const auto add_rate = [&](const char* quantity, double of_a_step) {
    all.push_back(
        {quantity, "1/s", [amount = of_a_step * static_cast<double>(which.steps)](double seconds) {
           return amount / seconds;
         }});
  };
  add_rate("agent_steps_per_second", which.problem.agents);
  add_rate("steps_per_second", 1);
  // A single agent has no neighbours, and so no rate.
  if (which.counted.neighbours > 0) add_rate("neighbours_per_second", which.counted.neighbours);
  return all;
}

void add_gpu_rows(std::vector<Constant>& rows, const RungCase& which) {
  const auto& counted = which.counted;
  const auto& predicted = which.predicted;
  const auto add_model = [&](const char* quantity, const char* unit, double value) {
    if (value > 0) rows.push_back({quantity, unit, Provenance::modelled, "model", value});
  };
  if (predicted.used > 0) {
    add_model("fp32_instructions", "1", fp32_of_test * predicted.tests / predicted.used);
  }
  if (counted.idle.all + predicted.idle.all > 0) {
    const auto add_idle = [&](const char* quantity, std::uint64_t seen, std::uint64_t wanted) {
      const auto steps = static_cast<double>(which.steps);
      add_count(rows, quantity, static_cast<double>(seen) / steps,
                static_cast<double>(wanted) / steps);
    };
    add_idle("idle_threads", counted.idle.all, predicted.idle.all);
    add_idle("active_idle_threads", counted.idle.active, predicted.idle.active);
  }
  add_model("build_bytes", "B", which.predicted_build.bytes);
  add_model("build_instructions", "1", which.predicted_build.instructions);
  if (which.least_step > 0) {
    rows.push_back({"bytes_limit", "1/s", Provenance::modelled, "dram_pins",
                    which.problem.agents / which.least_step});
  }
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
  const bool gpu = which.rung.backend == Backend::cuda;
  const auto& counted = which.counted;
  StepCase of_steps{.rung = which.rung,
                    .steps = which.steps,
                    .timed = timed(which),
                    .counts = compared(which),
                    .lane_slots = which.rung.issue_slots_at() * counted.tests / counted.used /
                                  which.problem.agents,
                    .sms = which.sms,
                    .different_at_end = which.different_at_end,
                    .results = which.problem.agents,
                    .difference = "agents differ between the last sample and the verified steps",
                    .sample = which.sample,
                    .facts = which.facts};
  of_steps.facts["steps"] = static_cast<std::int64_t>(which.steps);
  if (gpu) of_steps.queued = {counted.traffic, which.predicted_traffic};
  Experiment experiment = strata::describe(of_steps);
  auto& rows = experiment.constants;
  add_count(rows, "distance_tests", counted.tests, which.predicted.tests);
  add_count(rows, "rebuilds", counted.rebuilds, which.predicted.rebuilds);
  rows.push_back({"used_threads", "1", Provenance::counted, "code", counted.used});
  if (gpu) {
    rows.push_back({"used_threads", "1", Provenance::modelled, "model", which.predicted.used});
  }
  rows.push_back({"wrong_neighbours", "1", Provenance::modelled, "fp64_reference",
                  static_cast<double>(which.wrong)});
  if (gpu) add_gpu_rows(rows, which);
  experiment.checked = "neighbours of every agent in the first and the last step";
  experiment.tally = {.checked = which.checked, .different = which.wrong};
  if (which.problem.moves()) {
    experiment.accuracy = [motion = which.motion](Session& /*session*/) { return motion; };
  }
  return experiment;
}

}  // namespace strata::neighbours
