#include "nbody/fstat/rung_experiment.hpp"

#include "harness/measure/step_rows.hpp"

namespace strata::fstat {
namespace {

/// Kernels, of which all sum but those that gather pieces for it.
const std::vector<KernelPhase> kernel_phases{{"sum_signals", StepPhase::sum},
                                             {"write_terms", StepPhase::sum},
                                             {"DeviceSegmentedReduceKernel", StepPhase::sum},
                                             {"combine_sums", StepPhase::sum},
                                             {"sum_by_warp", StepPhase::sum},
                                             {"sum_by_lane", StepPhase::sum},
                                             {"make_polynomials", StepPhase::build},
                                             {"InitTileStateKernel", StepPhase::copy_in},
                                             {"BatchMemcpyKernel", StepPhase::copy_in},
                                             {"MultiBlockBatchMemcpyKernel", StepPhase::copy_in}};

void judge_costs(Session& session, const RungCase& which) {
  judge_queued(session, which.counted.queued, which.predicted.queued);
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  const auto& counted = which.counted;
  const auto& predicted = which.predicted;
  session.as_predicted(std::vector<ComparedCount>{
      {"terms", which.counted_terms, which.terms},
      {"idle threads", number(counted.idle_threads), number(predicted.idle_threads)},
      {"allocations", number(counted.allocations), number(predicted.allocations)}});
}

}  // namespace

Experiment describe(const RungCase& which) {
  const bool gpu = which.rung.backend == Backend::cuda;
  const auto cores = static_cast<double>(which.cores);
  Experiment experiment;
  const auto add_rates = [&, terms = which.terms](const Method& method, std::size_t number) {
    experiment.rows.push_back({"terms_per_second", "1/s", method, [=](const Sample& seen) {
                                 return terms / seen.numbers.at(number);
                               }});
    experiment.rows.push_back({"seconds_per_sft", "s", method, [=](const Sample& seen) {
                                 return cores * seen.numbers.at(number) / terms;
                               }});
  };
  add_rates(By::whole, 0);
  add_rates(gpu ? "globaltimer" : "tsc", 1);
  auto& rows = experiment.constants;
  const auto add = [&](const std::string& quantity, Provenance provenance, const char* method,
                       double value) {
    rows.push_back({quantity, "1", provenance, method, value});
  };
  const std::vector<const char*> errors{"fa_error", "fb_error", "two_f_error"};
  for (std::size_t i = 0; i < which.accuracy.size(); ++i) {
    if (!which.accuracy[i].finite) continue;  // reported by the gate
    add(errors.at(i), Provenance::modelled, "fp64_reference", which.accuracy[i].rms);
  }
  add("terms", Provenance::modelled, "model", which.terms);
  if (gpu) {
    add("terms", Provenance::counted, "code", which.counted_terms);
    const auto add_both = [&](const char* quantity, std::uint64_t counted, std::uint64_t wanted) {
      add(quantity, Provenance::counted, "code", static_cast<double>(counted));
      add(quantity, Provenance::modelled, "model", static_cast<double>(wanted));
    };
    add_both("idle_threads", which.counted.idle_threads, which.predicted.idle_threads);
    add_both("allocations", which.counted.allocations, which.predicted.allocations);
    add_queued(rows, which.counted.queued, which.predicted.queued, /*steps=*/1);
  }
  time_by_both(experiment, which.rung.backend);
  if (which.sample) {
    experiment.trace = TracePlan{
        .run = which.sample, .kernels = kernel_phases, .different = which.different_at_end};
    if (gpu) experiment.trace->queued = which.counted.queued;
  }
  experiment.not_counted = gpu ? "its pass is not one kernel" : "a CPU has no counters in the sets";
  experiment.accuracy = [which](Session& /*session*/) { return which.accuracy; };
  experiment.conclude = [which, gpu](Session& session, const std::vector<Sample>& samples) {
    const std::size_t different = which.different_at_end();
    session.none_of("result", different, which.results,
                    "results of the last sample are not those of the verified pass");
    if (!gpu) return;
    judge_costs(session, which);
    session.add({.quantity = "core_seconds_per_sft",
                 .unit = "s",
                 .provenance = Provenance::timed,
                 .method = "monotonic",
                 .samples = which.core_seconds});
    const auto slots = which.rung.issue_slots.find(which.choice.group);
    if (slots == which.rung.issue_slots.end()) return;
    session.add(
        {.quantity = "issue_limit",
         .unit = "1/s",
         .provenance = Provenance::modelled,
         .method = "issue_slots",
         .samples = {lane_slots_per_second(samples, /*hertz=*/2, which.sms) / slots->second}});
  };
  experiment.facts = [which](const Experiment&) {
    Facts facts = which.facts;
    facts.insert({{"change", which.rung.change}, {"before", which.rung.before}});
    return facts;
  };
  return experiment;
}

}  // namespace strata::fstat
