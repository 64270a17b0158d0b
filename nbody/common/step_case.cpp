#include "nbody/common/step_case.hpp"

#include <utility>

namespace strata {
namespace {

void conclude(const StepCase& which, Session& session, const std::vector<Sample>& samples) {
  if (which.different_at_end && !which.difference.empty()) {
    session.none_of("result", which.different_at_end(), which.results, which.difference);
  }
  if (!which.counts.empty()) session.as_predicted(which.counts);
  if (which.queued) judge_queued(session, which.queued->counted, which.queued->predicted);
  if (which.lane_slots == 0 || which.sms == 0) return;
  const double slots = lane_slots_per_second(samples, /*hertz=*/2, which.sms);
  session.add({.quantity = "issue_limit",
               .unit = "1/s",
               .provenance = Provenance::modelled,
               .method = "issue_slots",
               .samples = {slots / which.lane_slots}});
}

}  // namespace

Experiment describe(const StepCase& which) {
  const bool gpu = which.rung.backend == Backend::cuda;
  Experiment experiment;
  for (const auto& [method, number] :
       {std::pair{Method{By::whole}, 0U}, std::pair{Method{gpu ? "globaltimer" : "tsc"}, 1U}}) {
    for (const TimedQuantity& one : which.timed) {
      experiment.rows.push_back(
          {one.quantity, one.unit, method, [value = one.value, at = number](const Sample& sample) {
             return value(sample.numbers.at(at));
           }});
    }
  }
  if (which.queued) {
    add_queued(experiment.constants, which.queued->counted, which.queued->predicted, which.steps);
  }
  time_by_both(experiment, which.rung.backend);
  if (which.sample) {
    experiment.trace = TracePlan{.run = which.sample,
                                 .kernels = which.rung.kernels,
                                 .steps = static_cast<double>(which.steps),
                                 .different = which.different_at_end};
    if (which.queued) experiment.trace->queued = which.queued->counted;
  }
  experiment.not_counted =
      gpu ? "its steps are several kernels" : "the counter sets do not cover CPUs";
  experiment.conclude = [which](Session& session, const std::vector<Sample>& samples) {
    conclude(which, session, samples);
  };
  experiment.facts = [which](const Experiment&) {
    Facts facts = which.facts;
    facts.insert({{"change", which.rung.change}, {"before", which.rung.before}});
    return facts;
  };
  return experiment;
}

void add_count(std::vector<Constant>& rows, const char* quantity, double counted,
               double predicted) {
  rows.push_back({quantity, "1", Provenance::counted, "code", counted});
  rows.push_back({quantity, "1", Provenance::modelled, "model", predicted});
}

}  // namespace strata
