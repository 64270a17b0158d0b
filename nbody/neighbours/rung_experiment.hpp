// What is reported of a rung's case on any backend, everything but its launches. Host only.
#pragma once

#include "harness/measure/experiment.hpp"
#include "nbody/neighbours/ladder.hpp"
#include "nbody/neighbours/verification.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace strata::neighbours {

/// Time steps of a sample: as many in every case, so that what is counted does not hang on the
/// machine's speed.
inline constexpr std::size_t steps_of_sample = 8;

/// What a rung did, counted by its own code in the steps of a sample.
struct Counts {
  double tests = 0;       ///< distances computed, of a step in the mean
  double used = 1;        ///< part of the lanes, or threads, that computed a wanted one
  double rebuilds = 0;    ///< of the data structure, in all steps
  double neighbours = 0;  ///< found in a step, in the mean
  IdleThreads idle;       ///< in all steps, where threads say so
  Traffic traffic;        ///< of the steps of a sample, on a GPU
};

/// What is known of a case before its first sample, and how to ask for what its last one left.
struct RungCase {
  Rung rung;
  Problem problem;
  std::size_t steps = steps_of_sample;
  std::size_t checked = 0;  ///< agents whose neighbours were compared, before the samples
  std::size_t wrong = 0;    ///< of them, those that have others
  std::vector<Accuracy> motion;
  Counts counted;
  Predicted predicted;
  Traffic predicted_traffic;
  Build predicted_build;  ///< of a step, on a GPU
  unsigned sms = 0;       ///< of a GPU
  double least_step = 0;  ///< seconds in which its memory moves what it must; 0: L2 keeps all
  /// Agents that the last sample left otherwise than the verified steps did.
  std::function<std::size_t()> different_at_end;
  /// Takes the steps of a sample: its seconds by the outer timer, of which phases are told. Empty:
  /// none are.
  std::function<double()> sample = nullptr;
  Facts facts;  ///< beside those that every rung has
};

/// What verified steps say of a case.
[[nodiscard]] RungCase case_of(const Rung& rung, const Problem& problem,
                               const Verification& verified, const Predicted& predicted);

/// Numbers of a sample: seconds of all its steps by the outer timer and by the inner one, and the
/// core's clock.
[[nodiscard]] Experiment describe(const RungCase& which);

}  // namespace strata::neighbours
