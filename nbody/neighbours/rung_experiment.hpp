// The rows of a rung's case on any backend, everything except its launches. Host only.
#pragma once

#include "nbody/common/step_case.hpp"
#include "nbody/neighbours/ladder.hpp"
#include "nbody/neighbours/verification.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace strata::neighbours {

/// The work of a rung, counted by its own code in the steps of a sample.
struct Counts {
  double tests = 0;       ///< distances computed, mean per step
  double used = 1;        ///< fraction of the lanes, or threads, that computed a wanted one
  double rebuilds = 0;    ///< of the data structure, in all steps
  double neighbours = 0;  ///< found, mean per step
  IdleThreads idle;       ///< in all steps, if threads report them
  Traffic traffic;        ///< of the steps of a sample, on a GPU
};

/// A case before its first sample, and access to the results of its last sample.
struct RungCase {
  Rung rung;
  Problem problem;
  std::size_t steps = 0;    ///< of a sample: given, so that counts do not depend on the speed
  std::size_t checked = 0;  ///< agents whose neighbours were compared, before the samples
  std::size_t wrong = 0;    ///< of them, those with other neighbours
  std::vector<Accuracy> motion;
  Counts counted;
  Predicted predicted;
  Traffic predicted_traffic;
  Build predicted_build;  ///< of a step, on a GPU
  unsigned sms = 0;       ///< of a GPU
  double least_step = 0;  ///< seconds in which its memory moves the minimum; 0: L2 keeps everything
  /// Agents that differ between the last sample and the verified steps.
  std::function<std::size_t()> different_at_end;
  /// Takes the steps of a sample: its seconds by the outer timer, to be divided into phases. Empty:
  /// no phases.
  std::function<double()> sample = nullptr;
  Facts facts;  ///< beside those that every rung has
};

/// Results of the verified steps of a case.
[[nodiscard]] RungCase case_of(const Rung& rung, const Problem& problem,
                               const Verification& verified, const Predicted& predicted);

/// Numbers of a sample: seconds of all its steps by the outer timer and by the inner one, and the
/// core's clock.
[[nodiscard]] Experiment describe(const RungCase& which);

}  // namespace strata::neighbours
