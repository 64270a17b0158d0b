#include "nbody/gravity/problem/problem.hpp"

#include "harness/model/split_mix.hpp"

#include <stdexcept>
#include <string>

namespace strata::nbody {

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::galaxies:
      return "galaxies";
    case Kind::single:
      return "single";
    case Kind::gravit:
      return "gravit";
  }
  return "unknown";
}

Bodies empty_bodies(std::uint32_t systems, std::uint32_t bodies) {
  Bodies result{.systems = systems, .bodies = bodies, .fields = {}};
  for (auto& field : result.fields)
    field.assign(result.total(), 0.0F);
  return result;
}

Bodies generate(const Problem& problem) {
  Bodies result = empty_bodies(problem.systems, problem.bodies);
  SplitMix random{problem.seed};
  for (std::size_t i = 0; i < result.total(); ++i) {
    for (const Field f : {Field::px, Field::py, Field::pz})
      result.at(f, i) = static_cast<float>(random.fraction());
    for (const Field f : {Field::vx, Field::vy, Field::vz})
      result.at(f, i) = static_cast<float>(random.fraction() - 0.5);
    const auto mass = static_cast<float>(random.fraction() + 0.5);
    result.at(Field::mass, i) = problem.kind == Kind::galaxies ? 1.0F : mass;
  }
  return result;
}

Problem problem_of(const Session& session) {
  const std::string& name = session.param("problem");
  Problem problem{.kind = Kind::single,
                  .systems = static_cast<std::uint32_t>(session.whole("systems")),
                  .bodies = static_cast<std::uint32_t>(session.whole("bodies"))};
  for (const Kind kind : {Kind::galaxies, Kind::single, Kind::gravit}) {
    if (to_string(kind) != name) continue;
    problem.kind = kind;
    return problem;
  }
  throw std::out_of_range{"there is no problem '" + name + "'"};
}

}  // namespace strata::nbody
