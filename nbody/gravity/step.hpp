// What a rung on a GPU is handed, and what it hands back. Host only: kernels get pointers and
// numbers.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/session.hpp"
#include "nbody/gravity/judgement.hpp"
#include "nbody/gravity/ladder.hpp"
#include "nbody/gravity/problem/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct CUstream_st;

namespace strata::nbody {

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

/// A rung made ready for a case.
struct Climber {
  /// Launches the step, and nothing else: no copies, no waiting.
  std::function<void(const Step&, CUstream_st*)> launch;
  const void* kernel = nullptr;  ///< the one that takes the time
  unsigned threads = 0;          ///< of its blocks
  /// Reciprocal square roots of a step, one a thread; 0 where they are not one for each pair.
  double square_roots = 0;
};

/// Makes a rung ready: reads its axes. Throws Skipped where the device cannot do it.
using MakeClimber = Climber (*)(const Session&, const Problem&);

/// One step of `bodies` in that layout, on the current device. Of moving bodies: they start at rest
/// and the step lasts 1, so that the new velocities are the accelerations.
[[nodiscard]] Judgement judge(const Climber& climber, const std::string& layout,
                              const Problem& problem, const Bodies& bodies);

/// The rungs that this executable holds for a GPU, by name.
[[nodiscard]] std::map<std::string, MakeClimber, std::less<>>& climbers();

/// Judges a rung, then times or counts it.
void climb(Session& session, const Rung& rung, MakeClimber make);

}  // namespace strata::nbody

/// Enrols a rung on a GPU: `make` is its MakeClimber.
#define STRATA_RUNG(name, make)                                                             \
  [[maybe_unused]] static const bool strata_rung_kept =                                     \
      ::strata::nbody::climbers().emplace(name, make).second;                               \
                                                                                            \
  [[maybe_unused]] static const bool strata_rung_enrolled = ::strata::detail::enrol(        \
      ::strata::nbody::declare<::strata::nbody::rung_index(name)>, ::strata::Backend::cuda, \
      [](::strata::Session& session) {                                                      \
        ::strata::nbody::climb(session, ::strata::nbody::rung_named(name), make);           \
      })
