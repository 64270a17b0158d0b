// The bodies of a rung: which problem, how many, their positions and masses. They are generated
// here from a seed, identically on every machine; dataset_file.hpp stores them in files. Host only.
#pragma once

#include "harness/base/enum_words.hpp"
#include "harness/base/error.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::nbody {

/// The kind of problem.
///   galaxies  S independent systems, each body of mass 1; each step accelerates and moves them
///             (Papadouli, Markovitsis, Sanchez Cabrera 2026: S = 32)
///   single    one system with masses; accelerations only (CUDA Handbook 14, GPU Gems 3 ch. 31)
///   gravit    one system, timed with the copies to and from the device (Siegel et al. 2009, IV)
enum class Kind { galaxies, single, gravit };
constexpr auto words_of(Kind /*unused*/) {
  return std::to_array<std::string_view>({"galaxies", "single", "gravit"});
}

/// A problem, without its bodies.
struct Problem {
  Kind kind = Kind::single;
  std::uint32_t systems = 1;
  std::uint32_t bodies = 1;  ///< of each system
  std::uint64_t seed = 2009;

  [[nodiscard]] std::size_t total() const { return std::size_t{systems} * bodies; }
  /// Pairs (i, j) of a step, including i = j: the literature counts N² for each system.
  [[nodiscard]] double interactions() const {
    return static_cast<double>(systems) * bodies * static_cast<double>(bodies);
  }
  /// Whether a step moves the bodies.
  [[nodiscard]] bool moves() const { return kind == Kind::galaxies; }
  bool operator==(const Problem&) const = default;
};

/// Squared softening length ε², in squared units of the cube's edge. It keeps a body's force on
/// itself, and that between two at one place, finite: 0.
inline constexpr float softening_squared = 1e-4F;
/// Step length of `galaxies`.
inline constexpr float time_step = 1e-5F;
/// Steps of `galaxies` in a sample on a GPU: a tenth of the report's 80 steps, whose 4.3e10
/// interactions of 32 systems of 4096 bodies take a slow rung seconds. A fast one still takes
/// milliseconds, a thousand times the timers' step.
inline constexpr std::uint32_t galaxies_steps = 8;

/// The seven numbers of each body, field by field in the order of Field. Body i of system s is at
/// s × bodies + i.
struct Bodies {
  std::uint32_t systems = 1;
  std::uint32_t bodies = 0;  ///< of each system
  std::array<std::vector<float>, field_count> fields;

  [[nodiscard]] std::size_t total() const { return std::size_t{systems} * bodies; }
  [[nodiscard]] auto& field(Field f) { return fields[static_cast<std::size_t>(f)]; }
  [[nodiscard]] const auto& field(Field f) const { return fields[static_cast<std::size_t>(f)]; }
  [[nodiscard]] float& at(Field f, std::size_t i) { return field(f)[i]; }
  [[nodiscard]] float at(Field f, std::size_t i) const { return field(f)[i]; }
  bool operator==(const Bodies&) const = default;
};
/// Bodies whose numbers are all 0.
[[nodiscard]] Bodies empty_bodies(std::uint32_t systems, std::uint32_t bodies);

/// Positions uniform in the unit cube, velocities uniform in ±0.5; masses 1 (galaxies) or uniform
/// in [0.5, 1.5).
[[nodiscard]] Bodies generate(const Problem& problem);

/// The problem of a case's axes `problem`, `systems` and `bodies`.
[[nodiscard]] Problem problem_of(const Session& session);

/// visit.operator()<L>() for the layout of that name. Throws Skipped if there is none.
template <class Visit>
auto with_layout_named(std::string_view name, Visit&& visit) {
  std::optional<decltype(visit.template operator()<Soaoas>())> result;
  with_layout(name, Posmass::name,
              [&]<class L, class>() { result = visit.template operator()<L>(); });
  if (!result) throw Skipped{"this rung has no layout '" + std::string{name} + "'"};
  return *std::move(result);
}

/// The words of the bodies in the layout of that name, and back. Padding words get 1. Throws
/// Skipped for an unknown layout.
[[nodiscard]] std::vector<float> words_of(std::string_view layout, const Bodies& bodies);
[[nodiscard]] Bodies bodies_of(std::string_view layout, std::span<const float> words,
                               std::uint32_t systems, std::uint32_t bodies);

}  // namespace strata::nbody
