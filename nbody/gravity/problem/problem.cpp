#include "nbody/gravity/problem/problem.hpp"

#include "harness/model/split_mix.hpp"

#include <stdexcept>

namespace strata::nbody {

Bodies empty_bodies(std::uint32_t systems, std::uint32_t bodies) {
  Bodies result{.systems = systems, .bodies = bodies, .fields = {}};
  result.fields.fill(std::vector<float>(result.total()));
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
  const auto kind = enum_from<Kind>(name);
  if (!kind) throw std::out_of_range{"there is no problem '" + name + "'"};
  return {.kind = *kind,
          .systems = static_cast<std::uint32_t>(session.whole("systems")),
          .bodies = static_cast<std::uint32_t>(session.whole("bodies"))};
}

std::vector<float> words_of(std::string_view layout, const Bodies& bodies) {
  return with_layout_named(layout, [&]<class L>() {
    const std::size_t n = bodies.total();
    std::vector<float> words(L::words(n), 1.0F);
    for (std::size_t f = 0; f < field_count; ++f) {
      for (std::size_t i = 0; i < n; ++i)
        words[word_of<L>(static_cast<Field>(f), i, n)] = bodies.fields[f][i];
    }
    return words;
  });
}

Bodies bodies_of(std::string_view layout, std::span<const float> words, std::uint32_t systems,
                 std::uint32_t bodies) {
  return with_layout_named(layout, [&]<class L>() {
    Bodies result = empty_bodies(systems, bodies);
    const std::size_t n = result.total();
    for (std::size_t f = 0; f < field_count; ++f) {
      for (std::size_t i = 0; i < n; ++i)
        result.fields[f][i] = words[word_of<L>(static_cast<Field>(f), i, n)];
    }
    return result;
  });
}

}  // namespace strata::nbody
