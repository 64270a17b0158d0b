#include "nbody/gravity/verification.hpp"

#include <fmt/format.h>

#include <map>

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
                                          PullsOf pulls_of) {
  auto& library = session.cache().shared<Library>().of;
  const std::string key =
      fmt::format("{}/{}/{}", to_string(problem.kind), problem.systems, problem.bodies);
  const auto found = library.find(key);
  if (found != library.end()) return found->second;
  ReferenceProblem made{.bodies = generate(problem), .pulls = {}};
  made.pulls = pulls_of(made.bodies);
  return library.emplace(key, std::move(made)).first->second;
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

}  // namespace strata::nbody
