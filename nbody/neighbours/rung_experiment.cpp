#include "nbody/neighbours/rung_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strata::neighbours {
namespace {

constexpr double tests_bound = 0.01;  // counted distance tests lie so near those predicted

/// `amount` of a step, a second, of the seconds that are a number of the sample.
Row rate(const RungCase& which, const char* quantity, double amount, const Method& method,
         std::size_t number) {
  const double all = amount * static_cast<double>(which.steps);
  return {quantity, "1/s", method,
          [=](const Sample& seen) { return all / seen.numbers.at(number); }};
}

/// Gate `model`: what was counted is what the data structure's definition says.
void judge_counts_of(Session& session, const RungCase& which) {
  const double most = std::max(which.predicted.tests, 1.0);
  const double off = std::abs(which.counted.tests - which.predicted.tests) / most;
  const bool rebuilds = which.counted.rebuilds == which.predicted.rebuilds;
  session.judge("model", off <= tests_bound && rebuilds,
                fmt::format("{:.6g} distance tests a step counted, {:.6g} predicted (bound {:g} %)"
                            "; {:g} rebuilds counted, {} predicted",
                            which.counted.tests, which.predicted.tests, 100 * tests_bound,
                            which.counted.rebuilds, which.predicted.rebuilds));
  if (which.rung.backend != Backend::cuda) return;
  const double idle = std::abs(which.counted.used - which.predicted.used);
  session.judge("model", idle <= tests_bound,
                fmt::format("{:.4g} of the threads used, {:.4g} predicted (bound {:g})",
                            which.counted.used, which.predicted.used, tests_bound));
  const Traffic& seen = which.counted.traffic;
  const Traffic& wanted = which.predicted_traffic;
  session.judge("model", seen == wanted,
                fmt::format("{} copies of {} bytes and {} launches counted, {} of {} and {} "
                            "predicted, in {} steps",
                            seen.copies, seen.bytes, seen.launches, wanted.copies, wanted.bytes,
                            wanted.launches, which.steps));
}

/// Rows of what the steps asked of bus and driver.
void add_traffic(std::vector<Constant>& rows, const RungCase& which, const Traffic& traffic,
                 Provenance provenance, const char* method) {
  const auto steps = static_cast<double>(which.steps);
  const auto add = [&](const char* quantity, const char* unit, std::uint64_t of_all) {
    rows.push_back({quantity, unit, provenance, method, static_cast<double>(of_all) / steps});
  };
  add("copies", "1", traffic.copies);
  add("copied_bytes", "B", traffic.bytes);
  add("launches", "1", traffic.launches);
}

}  // namespace

RungCase case_of(const Rung& rung, const Problem& problem, const Verification& verified,
                 const Predicted& predicted) {
  const auto tests = static_cast<double>(verified.tests.made);
  const auto lanes = static_cast<double>(std::max<std::uint64_t>(verified.tests.lanes, 1));
  return {.rung = rung,
          .problem = problem,
          .checked = verified.checked,
          .wrong = verified.wrong,
          .motion = verified.motion,
          .counted = {.tests = tests / steps_of_sample,
                      .used = tests / lanes,
                      .rebuilds = static_cast<double>(verified.rebuilds),
                      .neighbours = verified.neighbours},
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
    // One agent has none, and a rate of nothing says nothing.
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
  experiment.timers = {{number_at(1), inner, number_at(0), By::whole}};
  if (which.rung.backend == Backend::cuda) {
    // Events and stamps lie some microseconds apart: of brief samples more than the bound.
    constexpr double least = 5e-4;
    experiment.timers = {{number_at(0), By::whole, number_at(1), inner, least}};
    auto& rows = experiment.constants;
    rows.push_back({"used_threads", "1", Provenance::modelled, "model", which.predicted.used});
    add_traffic(rows, which, which.counted.traffic, Provenance::counted, "code");
    add_traffic(rows, which, which.predicted_traffic, Provenance::modelled, "model");
    experiment.partly_host_time = true;
  }
  experiment.core_hertz = number_at(2);
  experiment.checked = "neighbours of every agent in the first and the last step";
  experiment.tally = {.checked = which.checked, .different = which.wrong};
  experiment.not_counted = which.rung.backend == Backend::cuda
                               ? "its steps are not one kernel"
                               : "a CPU has no counters in the sets";
  if (which.problem.moves()) {
    experiment.accuracy = [motion = which.motion](Session& /*session*/) { return motion; };
  }
  experiment.conclude = [which](Session& session, const std::vector<Sample>& /*samples*/) {
    judge_counts_of(session, which);
    const std::size_t different = which.different_at_end();
    session.judge("result", different == 0,
                  fmt::format("{} of {} agents are left by the last sample otherwise than by the "
                              "verified steps",
                              different, which.problem.agents));
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
