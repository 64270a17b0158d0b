// How a rung on the CPU is enrolled, judged and timed: the mirror image of step.hpp.
//
// Inside the time of a step that is no arithmetic: the meeting of all threads after it. Waking them
// happens once for all steps of a sample.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/measure/session.hpp"
#include "nbody/gravity/judgement.hpp"
#include "nbody/gravity/ladder.hpp"
#include "nbody/gravity/problem/problem.hpp"
#include "nbody/gravity/reference/gravity.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace strata::nbody {

/// One time step of all systems, or one evaluation of their accelerations.
struct HostStep {
  const float* from = nullptr;    ///< bodies, in the layout of the rung
  float* to = nullptr;            ///< galaxies: where the moved bodies go, in the same layout
  float* acceleration = nullptr;  ///< single, gravit: three arrays of total() numbers, x y z
  std::uint32_t systems = 1;
  std::uint32_t bodies = 0;  ///< of each system
  float softening_squared = 0;
  float time_step = 0;

  [[nodiscard]] std::size_t total() const { return std::size_t{systems} * bodies; }
  [[nodiscard]] bool moves() const { return acceleration == nullptr; }
};

/// Instructions that a rung may use.
enum class Vectors { none, avx2, avx512 };
[[nodiscard]] std::string_view to_string(Vectors vectors);
/// The widest that this CPU has: AVX-512 F, or AVX2 with FMA.
[[nodiscard]] Vectors widest_vectors();

/// A rung made ready.
struct HostKernel {
  /// Computes the steps one after the other, each from what the one before left.
  std::function<void(std::span<const HostStep>, ThreadTeam&)> run;
  std::string instructions = "scalar";
};

/// Makes a rung ready. Throws Skipped where it cannot be done with these vectors or in this build.
using MakeHostKernel = HostKernel (*)(Vectors);

/// The rungs that this executable has on the CPU. Throws std::out_of_range for another name.
[[nodiscard]] MakeHostKernel host_kernel(std::string_view name);

/// One step of these bodies, into poisoned outputs, held against their reference. Where bodies
/// move, they start at rest and the step lasts 1, so that the new velocities are the accelerations,
/// and the new positions known exactly.
[[nodiscard]] Judgement judge_on_host(const HostKernel& climber, ThreadTeam& team,
                                      std::string_view layout, const Bodies& bodies, bool moves,
                                      std::span<const Pull> right);

/// Judges a rung, then times it.
void measure_host_rung(Session& session, const Rung& rung, MakeHostKernel make);

bool enrol_host_rung(std::string_view name, MakeHostKernel make);

}  // namespace strata::nbody

/// Enrols a rung on the CPU: `make` is its MakeHostKernel.
#define STRATA_HOST_RUNG(name, make)                                                       \
  [[maybe_unused]] static const bool strata_rung_enrolled =                                \
      ::strata::nbody::enrol_host_rung(name, make) &&                                      \
      ::strata::detail::enrol(::strata::nbody::declare<::strata::nbody::rung_index(name)>, \
                              ::strata::Backend::host, [](::strata::Session& session) {    \
                                ::strata::nbody::measure_host_rung(                        \
                                    session, ::strata::nbody::rung_named(name), make);     \
                              })
