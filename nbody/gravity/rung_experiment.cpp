#include "nbody/gravity/rung_experiment.hpp"

#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace strata::nbody {
namespace {

void add(Session& session, const char* quantity, const char* unit, Provenance provenance,
         const char* method, double value) {
  session.add(Measurement{.quantity = quantity,
                          .unit = unit,
                          .provenance = provenance,
                          .method = method,
                          .samples = {value}});
}

double interactions_of(const RungCase& which) {
  return which.problem.interactions() * static_cast<double>(which.steps);
}

/// Errors, the nominal rate and the facts of every case.
Experiment described(const RungCase& which) {
  const double all = interactions_of(which);
  constexpr double slots_of_special = 8;  // of the special function unit: 16 lanes a cycle
  const double slots = which.rung.issue_slots_at();
  StepCase of_steps{
      .rung = which.rung,
      .steps = which.steps,
      .timed = {{"interactions_per_second", "1/s", [=](double seconds) { return all / seconds; }},
                {"step_time", "s",
                 [steps = static_cast<double>(which.steps)](double seconds) {
                   return seconds / steps;
                 }}},
      .lane_slots =
          slots == 0 ? 0 : std::max(slots, slots_of_special * which.rung.special_functions),
      .sms = which.sms,
      .facts = which.facts};
  of_steps.facts["steps"] = static_cast<std::int64_t>(which.steps);
  Experiment experiment = strata::describe(of_steps);
  const Error& error = which.verified.error;
  if (error.finite) {
    experiment.constants = {
        {"relative_rms_error", "1", Provenance::modelled, "fp64_reference", error.relative_rms},
        {"relative_maximum_error", "1", Provenance::modelled, "fp64_reference",
         error.relative_maximum}};
  }
  experiment.conclude = [all, limit = experiment.conclude](Session& session,
                                                           const std::vector<Sample>& samples) {
    constexpr double nominal_flops = 20;  // per interaction, as in GPU Gems 3, ch. 31
    std::vector<double> seconds(samples.size());
    std::ranges::transform(samples, seconds.begin(),
                           [](const Sample& sample) { return sample.numbers.at(0); });
    add(session, "nominal_flops_per_second", "FLOP/s", Provenance::modelled, "flop_20",
        nominal_flops * all / median(seconds));
    limit(session, samples);
  };
  experiment.accuracy = [which](Session& session) {
    const auto of = [&](const Error& of_what, const char* what) {
      return accuracy_of(which.rung, which.problem.bodies, of_what, what);
    };
    std::vector<Accuracy> results{of(which.verified.error, "accelerations")};
    if (which.error_at_end) {
      results.push_back(of(which.error_at_end(), "accelerations of the last sample"));
    }
    if (!which.after || session.counters() != nullptr) return results;
    const Conserved after = which.after();
    double off = 0;
    for (std::size_t c = 0; c < after.momentum.size(); ++c)
      off = std::max(off, std::abs(after.momentum[c] - which.before.momentum[c]));
    const double energy = std::abs(after.energy / which.before.energy - 1);
    const double momentum = off / which.before.momentum_scale;
    if (!std::isfinite(energy) || !std::isfinite(momentum)) {
      results.push_back({.what = "energy and momentum after the steps", .finite = false});
      return results;
    }
    add(session, "energy_drift", "1", Provenance::modelled, "fp64_reference", energy);
    add(session, "momentum_drift", "1", Provenance::modelled, "fp64_reference", momentum);
    return results;
  };
  return experiment;
}

CountPlan counted(const RungCase& which) {
  CountPlan plan{.length = {.rounds = 1}};
  if (which.square_roots > 0) {
    // One for each pair, plus at most a few for a body at the kernel's beginning and end. The count
    // proves that no pair was left out.
    plan.expected = {{.quantity = "xu_thread_instructions",
                      .predicted = which.square_roots,
                      .bound = 16.0 / which.problem.bodies}};
  }
  plan.more = [interactions = which.problem.interactions()](Session& session,
                                                            const Counted& counts) {
    const auto add_row = [&](const char* name, const char* unit, double value) {
      add(session, name, unit, Provenance::counted, "cupti_net", value / interactions);
    };
    const auto adds = counts.net("fp32_add");
    const auto multiplies = counts.net("fp32_mul");
    const auto fused = counts.net("fp32_fma");
    if (adds && multiplies && fused) {
      add_row("flops_per_interaction", "FLOP", *adds + *multiplies + 2 * *fused);
    }
    constexpr double lanes = 32;
    if (const auto issued = counts.net("executed_instructions")) {
      add_row("instructions_per_interaction", "instruction", *issued * lanes);
    }
    if (const auto bytes = counts.net("dram_read_bytes")) {
      add_row("dram_bytes_per_interaction", "B", *bytes);
    }
  };
  return plan;
}

}  // namespace

const ReferenceProblem& reference_problem(Session& session, const Problem& problem,
                                          PullsOf pulls_of) {
  auto& kept = session.cache().shared<std::map<std::string, ReferenceProblem>>();
  const std::string key =
      fmt::format("{}/{}/{}", to_string(problem.kind), problem.systems, problem.bodies);
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  ReferenceProblem made{.bodies = generate(problem), .pulls = {}};
  made.pulls = pulls_of(made.bodies);
  return kept.emplace(key, std::move(made)).first->second;
}

Bodies at_rest(Bodies bodies) {
  for (const Field f : {Field::vx, Field::vy, Field::vz})
    std::ranges::fill(bodies.field(f), 0.0F);
  return bodies;
}

Verification verification_of(const Bodies& still, const Bodies& moved,
                             std::span<const Pull> right) {
  Verification verification;
  for (std::size_t i = 0; i < moved.total(); ++i) {
    for (const auto& [p, v] : {std::pair{Field::px, Field::vx}, std::pair{Field::py, Field::vy},
                               std::pair{Field::pz, Field::vz}}) {
      if (moved.at(p, i) != moved.at(v, i) + still.at(p, i)) ++verification.misplaced;
    }
    if (moved.at(Field::mass, i) != still.at(Field::mass, i)) ++verification.misplaced;
  }
  verification.error =
      error_of(right, moved.field(Field::vx), moved.field(Field::vy), moved.field(Field::vz));
  return verification;
}

Experiment describe(const RungCase& which) {
  Experiment experiment = described(which);
  if (which.problem.moves()) {
    experiment.checked = "positions and masses after a step";
    experiment.tally = {.checked = 4 * which.problem.total(),
                        .different = which.verified.misplaced};
  }
  if (which.rung.backend == Backend::host) return experiment;
  std::get<TimerPair>(experiment.checks.front()).least = 0;
  experiment.partly_host_time = which.problem.kind == Kind::gravit;
  if (experiment.partly_host_time) {
    experiment.rows.push_back({"copied_step_time", "s", "wall", number_at(3)});
  }
  experiment.not_counted.clear();
  experiment.unproved = {.gate = "model", .why = {}, .refuted = nullptr};
  experiment.counts = counted(which);
  return experiment;
}

Experiment describe_several_gpus(const RungCase& which) {
  Experiment experiment = described(which);
  const auto rate = [all = interactions_of(which)](std::size_t number) -> Value {
    return [=](const Sample& sample) { return all / sample.numbers.at(number); };
  };
  experiment.rows = {{"interactions_per_second", "1/s", "wall", rate(0)},
                     {"step_time", "s", "wall", experiment.rows[1].value},
                     {"interactions_per_second", "1/s", By::whole, rate(1)},
                     {"copied_interactions_per_second", "1/s", "wall", rate(2)}};
  experiment.checks = {TimerPair{number_at(0), "wall", number_at(1), By::whole}};
  experiment.partly_host_time = false;
  experiment.core_hertz.reset();
  experiment.has_clock = false;
  experiment.not_counted = "counters are read on one GPU only: see rung register_banks";
  return experiment;
}

}  // namespace strata::nbody
