// A step that several GPUs share: systems, or the bodies of a single one, of which each GPU then
// holds all and ends the step for its part; any number divides, evenly or not. A host thread drives
// each GPU. All start together and the time ends with the last: once including the copies to and
// from the GPUs, once without. Contexts are created before; the time for that is a fact of the
// case.
#pragma once

#include "harness/cuda/peer.hpp"
#include "nbody/gravity/rung_kernels.cuh"

#include <cstddef>
#include <memory>

namespace strata::nbody {

/// One GPU's part of a problem: some systems, or some bodies of the only one.
struct Part {
  std::uint32_t systems = 0;
  std::uint32_t first_system = 0;
  std::uint32_t begin = 0;  ///< bodies of a system: first, and end of the range
  std::uint32_t end = 0;
};
[[nodiscard]] Part part_of(const Problem& problem, std::size_t rank, std::uint32_t gpus);

/// Queues steps of a part on the GPU for which it was made, which must be current.
using QueueSteps = std::function<void(std::span<const Step>, const Stream&)>;
/// Prepares the part of the current GPU `rank`. Called once per GPU, in order.
using PrepareGpu = std::function<QueueSteps(std::size_t rank, const Part& part)>;
/// Prepares a rung that several GPUs share. Throws Skipped if these cannot do it.
using MakeFleet = PrepareGpu (*)(const Session&, const Problem&, GpuTeam&);

/// All GPUs, each with its part of these bodies.
class Fleet {
 public:
  /// That many GPUs; if fewer are visible, some of them have several parts.
  Fleet(const Session& session, const Problem& problem, const Bodies& bodies, std::uint32_t gpus,
        MakeFleet make);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  [[nodiscard]] double context_seconds() const { return team_.context_seconds(); }
  /// Restores the bodies and poisons the outputs.
  void restore();
  /// `copies`: including those to and from the GPUs.
  BothSides compute(std::size_t steps, float time, bool copies);
  /// Those that the last compute() moved and copied out.
  [[nodiscard]] Bodies moved() const;
  /// For bodies at rest: takes a step of length 1.
  [[nodiscard]] Error error(std::span<const Pull> right);

 private:
  class Member;

  GpuTeam team_;
  std::vector<std::unique_ptr<Member>> members_;
};

/// Verifies a rung of several GPUs, then times it.
void measure_rung(Session& session, const Rung& rung, MakeFleet make);

}  // namespace strata::nbody
