#include "nbody/fstat/rung_experiment.hpp"

namespace strata::fstat {
namespace {

double number(std::uint64_t count) {
  return static_cast<double>(count);
}

}  // namespace

Experiment describe(const RungCase& which) {
  const bool gpu = which.rung.backend == Backend::cuda;
  const auto& counted = which.counted;
  const auto& predicted = which.predicted;
  StepCase pass{.rung = which.rung,
                .timed = {{"terms_per_second", "1/s",
                           [terms = which.terms](double seconds) { return terms / seconds; }},
                          {"seconds_per_sft", "s",
                           [terms = which.terms, cores = static_cast<double>(which.cores)](
                               double seconds) { return cores * seconds / terms; }}},
                .lane_slots = which.rung.issue_slots_at(which.choice.group),
                .sms = which.sms,
                .different_at_end = which.different_at_end,
                .results = which.results,
                .difference = "results of the last sample are not those of the verified pass",
                .sample = which.sample,
                .facts = which.facts};
  if (gpu) {
    pass.counts = {{"terms", which.counted_terms, which.terms},
                   {"idle threads", number(counted.idle_threads), number(predicted.idle_threads)},
                   {"allocations", number(counted.allocations), number(predicted.allocations)}};
    pass.queued = {counted.queued, predicted.queued};
  }
  Experiment experiment = strata::describe(pass);
  auto& rows = experiment.constants;
  const std::vector<const char*> errors{"fa_error", "fb_error", "two_f_error"};
  for (std::size_t i = 0; i < which.accuracy.size(); ++i) {
    if (!which.accuracy[i].finite) continue;  // reported by the gate
    rows.push_back(
        {errors.at(i), "1", Provenance::modelled, "fp64_reference", which.accuracy[i].rms});
  }
  if (gpu) {
    add_count(rows, "terms", which.counted_terms, which.terms);
    add_count(rows, "idle_threads", number(counted.idle_threads), number(predicted.idle_threads));
    add_count(rows, "allocations", number(counted.allocations), number(predicted.allocations));
  } else {
    rows.push_back({"terms", "1", Provenance::modelled, "model", which.terms});
  }
  experiment.accuracy = [which](Session& /*session*/) { return which.accuracy; };
  if (!gpu) return experiment;
  experiment.conclude = [seconds = which.core_seconds, conclude = experiment.conclude](
                            Session& session, const std::vector<Sample>& samples) {
    conclude(session, samples);
    session.add({.quantity = "core_seconds_per_sft",
                 .unit = "s",
                 .provenance = Provenance::timed,
                 .method = "monotonic",
                 .samples = seconds});
  };
  return experiment;
}

}  // namespace strata::fstat
