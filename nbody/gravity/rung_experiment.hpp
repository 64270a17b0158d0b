// The case of a rung on any backend, except its launches: its steps with their inputs and outputs,
// the verification of their results, and the rows. Host only.
#pragma once

#include "nbody/common/step_case.hpp"
#include "nbody/gravity/ladder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace strata::nbody {

struct ReferenceProblem {
  Bodies bodies;
  std::vector<Pull> pulls;
};
using PullsOf = std::vector<Pull> (*)(const Bodies&);
/// A problem's bodies and their reference, which `pulls_of` computes on first use, for all rungs:
/// with half a million bodies it takes a second.
[[nodiscard]] const ReferenceProblem& reference_problem(Session& session, const Problem& problem,
                                                        PullsOf pulls_of);

/// One time step of all systems, or one evaluation of their accelerations.
struct Step {
  const float* from = nullptr;    ///< bodies, in the layout of the case
  float* to = nullptr;            ///< galaxies: the moved bodies, in the same layout
  float* acceleration = nullptr;  ///< three arrays of `total` numbers, x y z: the result of single
                                  ///< and gravit, and a scratch buffer if bodies move
  std::uint32_t systems = 1;
  std::uint32_t bodies = 0;  ///< of each system
  float softening_squared = 0;
  float time_step = 0;
  std::size_t number = 0;  ///< index of the step in a sample

  [[nodiscard]] std::uint32_t total() const { return systems * bodies; }
  [[nodiscard]] bool moves() const { return to != nullptr; }
};

/// Inputs and outputs of the steps of a case, in a backend's memory: std::vector<float> or
/// DeviceBuffer<float>.
template <class Buffer>
struct StepBuffers {
  std::string layout;
  std::uint32_t systems;
  std::uint32_t bodies;
  bool moves;
  Buffer begin;  ///< the bodies before the first step
  Buffer from;
  Buffer to;
  Buffer acceleration;

  StepBuffers(std::string layout_of_all, const Bodies& all, bool bodies_move)
      : layout{std::move(layout_of_all)},
        systems{all.systems},
        bodies{all.bodies},
        moves{bodies_move},
        begin{filled(words_of(layout, all))},
        from(begin.size()),
        to(begin.size()),
        acceleration(std::max(3 * all.total(), least)) {}

  /// A number of steps from the bodies in `from`. If bodies move, each step starts from the result
  /// of the previous one.
  [[nodiscard]] std::vector<Step> steps(std::size_t count, float time) {
    std::vector<Step> all;
    all.reserve(count);
    for (std::size_t s = 0; s < count; ++s) {
      const bool back = moves && s % 2 == 1;
      all.push_back({.from = (back ? to : from).data(),
                     .to = moves ? (back ? from : to).data() : nullptr,
                     .acceleration = acceleration.data(),
                     .systems = systems,
                     .bodies = bodies,
                     .softening_squared = softening_squared,
                     .time_step = time,
                     .number = s});
    }
    return all;
  }
  /// The buffer with the bodies after that many steps.
  [[nodiscard]] const Buffer& after(std::size_t count) const { return count % 2 == 1 ? to : from; }
  [[nodiscard]] Bodies bodies_after(std::size_t count) const {
    return bodies_of(layout, on_host(after(count)), systems, bodies);
  }
  /// The accelerations of the last step.
  [[nodiscard]] Error error(std::span<const Pull> right) const {
    const std::vector<float> all = on_host(acceleration);
    const std::size_t n = right.size();
    const auto part = [&](std::size_t which) { return std::span{all}.subspan(which * n, n); };
    return error_of(right, part(0), part(1), part(2));
  }

 private:
  static constexpr std::size_t least = 1;  // some of several GPUs may get no bodies
  static constexpr bool is_host = std::is_same_v<Buffer, std::vector<float>>;

  static Buffer filled(std::vector<float> words) {
    words.resize(std::max(words.size(), least));
    if constexpr (is_host) {
      return words;
    } else {
      return Buffer{std::span<const float>{words}};
    }
  }
  static std::vector<float> on_host(const Buffer& buffer) {
    if constexpr (is_host) {
      return buffer;
    } else {
      return buffer.to_host();
    }
  }
};

/// The result of one step.
struct Verification {
  Error error;                ///< of the accelerations
  std::size_t misplaced = 0;  ///< positions and masses that are wrong after a move
};
/// The same bodies without velocities. After a step of length 1 from there, the new velocities are
/// the accelerations, and the exact new positions are known.
[[nodiscard]] Bodies at_rest(Bodies bodies);
/// The result of such a step.
[[nodiscard]] Verification verification_of(const Bodies& still, const Bodies& moved,
                                           std::span<const Pull> right);
/// Takes such a step if bodies move, or computes their accelerations, and compares the result with
/// the reference. take(buffers, step) restores the bodies, poisons the outputs, and takes the step.
template <class Buffer, class Take>
[[nodiscard]] Verification verified_step(const std::string& layout, const Bodies& bodies,
                                         bool moves, std::span<const Pull> right, Take&& take) {
  const Bodies still = at_rest(bodies);
  StepBuffers<Buffer> buffers{layout, still, moves};
  take(buffers, buffers.steps(1, 1).front());
  if (!moves) return {.error = buffers.error(right)};
  return verification_of(still, buffers.bodies_after(1), right);
}

/// A case before its first sample, and access to the results of its last sample.
struct RungCase {
  Rung rung;
  Problem problem;
  std::size_t steps = 1;  ///< of a sample
  Verification verified;  ///< of one step, before the samples
  unsigned sms = 0;
  double square_roots = 0;              ///< per step, one per thread; 0: not one for each pair
  std::function<Error()> error_at_end;  ///< of the accelerations; for bodies that do not move
  Conserved before;                     ///< for bodies that move
  std::function<Conserved()> after;
  Facts facts;  ///< besides those of every rung
};

/// Receives the bodies that the last sample of each case moved, and its steps; kept in the
/// session's cache. Empty unless a command requests them.
struct ResultSink {
  std::function<void(const Bodies& moved, std::size_t steps)> take;
};

/// Has the last sample judged by the contents of `buffers`. All arguments must live until then.
template <class Buffer>
void judge_last_sample(Session& session, RungCase& which, const StepBuffers<Buffer>& buffers,
                       const ReferenceProblem& right, PullsOf pulls_of) {
  if (which.problem.moves()) {
    which.before = conserved(right.bodies, right.pulls);
    which.after = [&buffers, pulls_of, steps = which.steps,
                   &sink = session.cache().shared<ResultSink>()] {
      const Bodies moved = buffers.bodies_after(steps);
      if (sink.take) sink.take(moved, steps);
      return conserved(moved, pulls_of(moved));
    };
  } else {
    which.error_at_end = [&] { return buffers.error(right.pulls); };
  }
}

/// Numbers of a sample: seconds of all its steps by the outer timer (GPU: events; CPU: the system's
/// clock) and by the inner one (GPU: the timer that all SMs share; CPU: the core's counter), the
/// core's clock, and, on a GPU, seconds of the caller.
[[nodiscard]] Experiment describe(const RungCase& which);

/// For several GPUs. Numbers of a sample: seconds by the host's clock from the common start to the
/// last GPU's end; by events, of the slowest GPU; by the host's clock including the copies to and
/// from the GPUs.
[[nodiscard]] Experiment describe_several_gpus(const RungCase& which);

}  // namespace strata::nbody
