#include "nbody/gravity/verification.hpp"

#include "harness/record/gates.hpp"
#include "nbody/gravity/with_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace strata::nbody {
namespace {

/// The references computed so far; all rungs share them.
struct Library {
  std::map<std::string, ReferenceProblem> of;
};

}  // namespace

std::vector<float> words_of(std::string_view layout, const Bodies& bodies) {
  return with_layout_named(layout, [&]<class L>() { return in_layout<L>(bodies); });
}

Bodies bodies_of(std::string_view layout, std::span<const float> words, std::uint32_t systems,
                 std::uint32_t bodies) {
  return with_layout_named(layout,
                           [&]<class L>() { return from_layout<L>(words, systems, bodies); });
}

const ReferenceProblem& reference_problem(Session& session, const Problem& problem,
                                          std::vector<Pull> (*pulls_of)(const Bodies&)) {
  auto& library = session.cache().shared<Library>().of;
  const std::string key =
      fmt::format("{}/{}/{}", to_string(problem.kind), problem.systems, problem.bodies);
  const auto found = library.find(key);
  if (found != library.end()) return found->second;
  ReferenceProblem made{.bodies = generate(problem), .pulls = {}, .conserved = std::nullopt};
  made.pulls = pulls_of(made.bodies);
  if (problem.moves()) made.conserved = conserved(made.bodies, made.pulls);
  return library.emplace(key, std::move(made)).first->second;
}

Bodies at_rest(Bodies bodies) {
  for (const Field f : {Field::vx, Field::vy, Field::vz})
    std::ranges::fill(bodies.fields[static_cast<std::size_t>(f)], 0.0F);
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
  const auto field = [&](Field f) {
    return std::span<const float>{moved.fields[static_cast<std::size_t>(f)]};
  };
  verification.error = error_of(right, field(Field::vx), field(Field::vy), field(Field::vz));
  return verification;
}

void add_gates(Session& session, const Rung& rung, const Problem& problem,
               const Verification& verification) {
  session.add(accuracy_gate(rung, problem.bodies, verification.error, "accelerations"));
  if (!problem.moves()) return;
  session.add(result_gate(4 * problem.total(), verification.misplaced,
                          "positions and masses after a step"));
}

void add_modelled(Session& session, const char* quantity, const char* unit, const char* method,
                  double value) {
  session.add(Measurement{.quantity = quantity,
                          .unit = unit,
                          .provenance = Provenance::modelled,
                          .method = method,
                          .samples = {value}});
}

void report_error(Session& session, const Error& error) {
  if (!error.finite) return;
  add_modelled(session, "relative_rms_error", "1", "fp64_reference", error.relative_rms);
  add_modelled(session, "relative_maximum_error", "1", "fp64_reference", error.relative_maximum);
}

void report_drift(Session& session, const Conserved& before, const Conserved& after) {
  double off = 0;
  for (std::size_t c = 0; c < after.momentum.size(); ++c)
    off = std::max(off, std::abs(after.momentum[c] - before.momentum[c]));
  const double energy = std::abs(after.energy / before.energy - 1);
  const double momentum = off / before.momentum_scale;
  if (!std::isfinite(energy) || !std::isfinite(momentum)) {
    session.add(Gate{"result", Verdict::failed, "after the steps some bodies are nowhere"});
    return;
  }
  add_modelled(session, "energy_drift", "1", "fp64_reference", energy);
  add_modelled(session, "momentum_drift", "1", "fp64_reference", momentum);
}

}  // namespace strata::nbody
