// The description of a rung's case on any backend, except its launches. Host only.
#pragma once

#include "nbody/common/step_case.hpp"
#include "nbody/fstat/ladder.hpp"
#include "nbody/fstat/verification.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace strata::fstat {

/// A case before its first sample, and access to the results of its last one. A
/// sample is one pass over all sky points.
struct RungCase {
  Rung rung;
  Choice choice = {};
  double terms = 0;                ///< of the observation
  std::size_t results = 0;         ///< likewise
  std::vector<Accuracy> accuracy;  ///< of a pass before the samples
  std::size_t cores = 1;           ///< that work at once; of a GPU: 1
  Costs counted = {};              ///< of a pass, on a GPU
  Costs predicted = {};            ///< likewise
  double counted_terms = 0;        ///< likewise, by its threads
  unsigned sms = 0;                ///< of a GPU
  /// Of a GPU: seconds of a term on a core of its host.
  std::vector<double> core_seconds = {};
  /// Results that the last sample left otherwise than the pass before.
  std::function<std::size_t()> different_at_end;
  /// Takes a sample: its seconds by the outer timer, with traced phases.
  std::function<double()> sample;
  Facts facts = {};  ///< beside those that every rung has
};

/// Numbers of a sample: seconds by the outer timer and by the inner one, and the core's clock.
[[nodiscard]] Experiment describe(const RungCase& which);

}  // namespace strata::fstat
