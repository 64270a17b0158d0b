#include "nbody/gravity/rung_experiment.hpp"

#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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

double median_of(const std::vector<Sample>& samples, std::size_t number) {
  std::vector<double> all;
  all.reserve(samples.size());
  for (const Sample& one : samples)
    all.push_back(one.numbers.at(number));
  return median(all);
}

/// Interactions per second, from the sample's number `number`, in seconds.
Row rate(const RungCase& which, const char* quantity, const Method& method, std::size_t number) {
  const double interactions = which.problem.interactions() * static_cast<double>(which.steps);
  return {quantity, "1/s", method,
          [=](const Sample& seen) { return interactions / seen.numbers.at(number); }};
}
/// Seconds per step.
Row step_time(const RungCase& which, const Method& method, std::size_t number) {
  const auto steps = static_cast<double>(which.steps);
  return {"step_time", "s", method,
          [=](const Sample& seen) { return seen.numbers.at(number) / steps; }};
}

/// What every case reports: errors, the nominal rate, the facts.
Experiment described(const RungCase& which) {
  Experiment experiment;
  const Error& error = which.verified.error;
  if (error.finite) {
    experiment.constants = {
        {"relative_rms_error", "1", Provenance::modelled, "fp64_reference", error.relative_rms},
        {"relative_maximum_error", "1", Provenance::modelled, "fp64_reference",
         error.relative_maximum}};
  }
  experiment.conclude = [which](Session& session, const std::vector<Sample>& samples) {
    constexpr double nominal_flops = 20;  // per interaction, as in GPU Gems 3, ch. 31
    const double interactions = which.problem.interactions() * static_cast<double>(which.steps);
    add(session, "nominal_flops_per_second", "FLOP/s", Provenance::modelled, "flop_20",
        nominal_flops * interactions / median_of(samples, 0));
    if (which.rung.issue_slots == 0 || which.sms == 0) return;
    constexpr double issued_a_cycle = 128;  // lanes: four warps
    constexpr double slots_of_special = 8;  // 16 lanes a cycle
    const double slots =
        std::max(which.rung.issue_slots, slots_of_special * which.rung.special_functions);
    add(session, "issue_limit", "1/s", Provenance::modelled, "issue_slots",
        which.sms * issued_a_cycle * median_of(samples, 2) / slots);
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
  experiment.facts = [which](const Experiment&) {
    Facts facts = which.facts;
    facts.insert({{"steps", static_cast<std::int64_t>(which.steps)},
                  {"change", which.rung.change},
                  {"before", which.rung.before}});
    return facts;
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
  const bool gpu = which.rung.backend == Backend::cuda;
  const char* const inner = gpu ? "globaltimer" : "tsc";
  Experiment experiment = described(which);
  experiment.rows = {rate(which, "interactions_per_second", By::whole, 0),
                     step_time(which, By::whole, 0),
                     rate(which, "interactions_per_second", inner, 1), step_time(which, inner, 1)};
  experiment.checks.emplace_back(gpu ? TimerPair{number_at(0), By::whole, number_at(1), inner}
                                     : TimerPair{number_at(1), inner, number_at(0), By::whole});
  experiment.core_hertz = number_at(2);
  if (which.problem.moves()) {
    experiment.checked = "positions and masses after a step";
    experiment.tally = {.checked = 4 * which.problem.total(),
                        .different = which.verified.misplaced};
  }
  if (!gpu) {
    experiment.not_counted = "the counter sets do not cover CPUs";
    return experiment;
  }
  if (which.problem.kind == Kind::gravit) {
    experiment.rows.push_back({"copied_step_time", "s", "wall", number_at(3)});
    experiment.partly_host_time = true;
  }
  experiment.unproved = {.gate = "model", .why = {}, .refuted = nullptr};
  experiment.counts = counted(which);
  return experiment;
}

Experiment describe_several_gpus(const RungCase& which) {
  Experiment experiment = described(which);
  experiment.rows = {rate(which, "interactions_per_second", "wall", 0), step_time(which, "wall", 0),
                     rate(which, "interactions_per_second", By::whole, 1),
                     rate(which, "copied_interactions_per_second", "wall", 2)};
  experiment.checks.emplace_back(TimerPair{number_at(0), "wall", number_at(1), By::whole});
  experiment.has_clock = false;
  experiment.not_counted = "counters are read on one GPU only: see rung register_banks";
  return experiment;
}

}  // namespace strata::nbody
