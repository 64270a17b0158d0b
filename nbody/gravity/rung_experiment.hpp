// What the case of a rung reports, on any backend: everything but its launches. Host only.
#pragma once

#include "harness/measure/experiment.hpp"
#include "nbody/gravity/ladder.hpp"
#include "nbody/gravity/verification.hpp"

#include <cstddef>
#include <functional>
#include <span>

namespace strata::nbody {

/// What is known of a case before its first sample, and how to ask for what its last one left.
struct RungCase {
  Rung rung;
  Problem problem;
  std::size_t steps = 1;  ///< of a sample
  Verification verified;  ///< of one step, before the samples
  unsigned sms = 0;
  double square_roots = 0;              ///< of a step, one a thread; 0: not one for each pair
  std::function<Error()> error_at_end;  ///< of the accelerations; bodies that do not move
  Conserved before;                     ///< bodies that move
  std::function<Conserved()> after;
  Facts facts;  ///< beside those that every rung has
};

/// Has the last sample judged by what it leaves in `buffers`. All arguments must live until then.
template <class Buffer>
void judge_last_sample(RungCase& which, const StepBuffers<Buffer>& buffers,
                       const ReferenceProblem& right, PullsOf pulls_of) {
  if (which.problem.moves()) {
    which.before = conserved(right.bodies, right.pulls);
    which.after = [&buffers, pulls_of, steps = which.steps] {
      const Bodies moved = buffers.bodies_after(steps);
      return conserved(moved, pulls_of(moved));
    };
  } else {
    which.error_at_end = [&] { return buffers.error(right.pulls); };
  }
}

/// Numbers of a sample: seconds of all its steps by the outer timer (events; the system's clock)
/// and by the inner one (the timer that all SMs share; the core's counter), the core's clock, and,
/// on a GPU, seconds of the caller.
[[nodiscard]] Experiment describe(const RungCase& which);

/// The inner timer on a GPU, from stamps that each SM left before the steps and after them: from
/// the last SM that had passed the first stamp to the first that reached the second. Throws
/// std::runtime_error when no SM left both.
struct StampedSteps {
  double seconds = 0;
  double core_hertz = 0;  ///< median of the SMs
};
[[nodiscard]] StampedSteps stamped_steps(std::span<const Stamp> stamps);

/// Of several GPUs. Numbers of a sample: seconds by the host's clock from the common start to the
/// last GPU's end; by events, of the GPU that took longest; by the host's clock with the copies to
/// and from the GPUs inside.
[[nodiscard]] Experiment describe_several_gpus(const RungCase& which);

}  // namespace strata::nbody
