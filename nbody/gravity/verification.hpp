// Verification of a rung on any backend: the error of its accelerations, and what its steps do to
// energy and momentum. Host only.
#pragma once

#include "harness/measure/session.hpp"
#include "nbody/gravity/ladder.hpp"
#include "nbody/gravity/problem/problem.hpp"
#include "nbody/gravity/reference/gravity.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strata::nbody {

/// The bodies in the layout of that name, and back. Throw Skipped for a name that no layout has.
[[nodiscard]] std::vector<float> words_of(std::string_view layout, const Bodies& bodies);
[[nodiscard]] Bodies bodies_of(std::string_view layout, std::span<const float> words,
                               std::uint32_t systems, std::uint32_t bodies);

/// A problem's bodies and their reference.
struct ReferenceProblem {
  Bodies bodies;
  std::vector<Pull> pulls;
  std::optional<Conserved> conserved;  ///< galaxies
};
/// Computed on first use and kept as long as the device is open: the reference of half a million
/// bodies takes a second. `pulls_of` computes it on this device.
[[nodiscard]] const ReferenceProblem& reference_problem(
    Session& session, const Problem& problem, std::vector<Pull> (*pulls_of)(const Bodies&));

/// One time step of all systems, or one evaluation of their accelerations.
struct Step {
  const float* from = nullptr;    ///< bodies, in the layout of the case
  float* to = nullptr;            ///< galaxies: where the moved bodies go, in the same layout
  float* acceleration = nullptr;  ///< single, gravit: three arrays of `total` numbers, x y z
  std::uint32_t systems = 1;
  std::uint32_t bodies = 0;  ///< of each system
  float softening_squared = 0;
  float time_step = 0;

  [[nodiscard]] std::uint32_t total() const { return systems * bodies; }
  [[nodiscard]] bool moves() const { return acceleration == nullptr; }
};

/// The outcome of one step.
struct Verification {
  Error error;                ///< of the accelerations
  std::size_t misplaced = 0;  ///< positions and masses that a move left wrong
};
/// The same bodies without velocities. A step of length 1 from there makes the new velocities the
/// accelerations, and the new positions known exactly.
[[nodiscard]] Bodies at_rest(Bodies bodies);
/// The outcome of such a step.
[[nodiscard]] Verification verification_of(const Bodies& still, const Bodies& moved,
                                           std::span<const Pull> right);

/// The gates of the outcome.
void add_gates(Session& session, const Rung& rung, const Problem& problem,
               const Verification& verification);

/// A row of one computed number, without noise.
void add_modelled(Session& session, const char* quantity, const char* unit, const char* method,
                  double value);
/// The two relative errors, where there are any.
void report_error(Session& session, const Error& error);
/// The drift of energy and momentum; the gate `result` fails where it is not finite.
void report_drift(Session& session, const Conserved& before, const Conserved& after);

}  // namespace strata::nbody
