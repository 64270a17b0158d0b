// How a rung on the CPU is registered, verified and timed: step.hpp's counterpart.
//
// The time of a step includes the barrier of all threads after it; they are woken once for all
// steps of a sample.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/measure/session.hpp"
#include "nbody/gravity/ladder.hpp"
#include "nbody/gravity/problem/problem.hpp"
#include "nbody/gravity/reference/gravity.hpp"
#include "nbody/gravity/verification.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace strata::nbody {

/// Instructions that a rung may use.
enum class Vectors { none, avx2, avx512 };
[[nodiscard]] std::string_view to_string(Vectors vectors);
/// The widest that this CPU has: AVX-512 F, or AVX2 with FMA.
[[nodiscard]] Vectors widest_vectors();

/// A rung, prepared for these vectors.
struct HostKernel {
  /// Computes the steps one after the other, each from what the one before left.
  std::function<void(std::span<const Step>, ThreadTeam&)> run;
  std::string instructions = "scalar";
};

/// Prepares a rung. Throws Skipped where it cannot be done with these vectors or in this build.
using MakeHostKernel = HostKernel (*)(Vectors);

/// The rungs that this executable has on the CPU. Throws std::out_of_range for another name.
[[nodiscard]] MakeHostKernel host_kernel(std::string_view name);

/// One step of these bodies, into poisoned outputs, held against their reference. Where bodies
/// move, they start at rest and the step lasts 1, so that the new velocities are the accelerations,
/// and the new positions known exactly.
[[nodiscard]] Verification verify_on_host(const HostKernel& kernel, ThreadTeam& team,
                                          const std::string& layout, const Bodies& bodies,
                                          bool moves, std::span<const Pull> right);

/// Verifies a rung, then times it.
void measure_host_rung(Session& session, const Rung& rung, MakeHostKernel make);

bool add_host_kernel(const Rung& rung, MakeHostKernel make);

}  // namespace strata::nbody

/// Registers a rung on the CPU: its story and its MakeHostKernel.
#define STRATA_HOST_RUNG(story, make)                                                           \
  STRATA_RUNG_STORY(story);                                                                     \
  [[maybe_unused]] static const bool strata_rung_enrolled =                                     \
      ::strata::nbody::add_host_kernel(story(), make) &&                                        \
      ::strata::detail::enrol(::strata::nbody::detail::declare<story>, ::strata::Backend::host, \
                              [](::strata::Session& session) {                                  \
                                ::strata::nbody::measure_host_rung(session, story(), make);     \
                              })
