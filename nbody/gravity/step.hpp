// What a rung on a GPU hands over: how a step is launched. Host only: kernels get pointers and
// numbers.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/session.hpp"
#include "nbody/gravity/ladder.hpp"
#include "nbody/gravity/problem/problem.hpp"
#include "nbody/gravity/verification.hpp"

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

/// A rung, prepared for a case.
struct RungKernel {
  /// Launches the step, and nothing else: no copies, no waiting. Its caller asks for errors.
  std::function<void(const Step&, CUstream_st*)> launch;
  const void* kernel = nullptr;  ///< the one that takes the time
  unsigned threads = 0;          ///< of its blocks
  /// Reciprocal square roots of a step, one a thread; 0 where they are not one for each pair.
  double square_roots = 0;
};

/// Prepares a rung for a case: reads its axes. Throws Skipped where the device cannot do it.
using MakeRungKernel = RungKernel (*)(const Session&, const Problem&);

/// One step of `bodies` in that layout, on the current device. Of moving bodies: they start at rest
/// and the step lasts 1, so that the new velocities are the accelerations.
[[nodiscard]] Verification verify(const RungKernel& kernel, const std::string& layout,
                                  const Problem& problem, const Bodies& bodies);

/// The rungs that this executable holds for a GPU, by name.
[[nodiscard]] std::map<std::string, MakeRungKernel, std::less<>>& rung_kernels();

/// Verifies a rung, then times or counts it.
void measure_rung(Session& session, const Rung& rung, MakeRungKernel make);

}  // namespace strata::nbody
