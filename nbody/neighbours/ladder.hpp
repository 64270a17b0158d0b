// The ladder from all pairs to lists: every rung, in order. A rung changes one thing of the one
// before it.
//
// A rung is one file, host/NAME.cpp or rungs/NAME.cu, with its story and its code, and one line in
// CMakeLists.txt, whose order is the ladder's; its benchmark is neighbours_NAME, since names are
// unique. Without CUDA the story of a .cu is compiled as C++ and its kernels are left out. Host
// only.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/rungs.hpp"
#include "harness/measure/phases.hpp"
#include "nbody/neighbours/model/build.hpp"
#include "nbody/neighbours/model/cells.hpp"
#include "nbody/neighbours/model/tests.hpp"
#include "nbody/neighbours/model/traffic.hpp"
#include "nbody/neighbours/problem/problem.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace strata::neighbours {

/// What is known of the kernels of a rung on a GPU.
struct KernelCosts {
  /// Instructions that a warp issues at least for each of its distance tests, which no hit follows:
  /// counted in the machine code of the inner loop (compute capability 9.0), of the problem with
  /// the fewest; 0 where a limit by issue would be meaningless.
  double issue_slots = 0;
  PredictedBuild build = nullptr;  ///< null: kernels build nothing, or it is not predicted
};

struct Rung {
  std::string name;
  Backend backend = Backend::host;
  std::string before = {};  ///< the rung that it changes; empty for the first of a backend
  KernelCosts costs = {};   ///< on a GPU
  std::string question;     ///< that it answers
  std::string change;       ///< the one thing that is new
  std::string source;       ///< first publication
  std::string expectation;  ///< of its effect, and of what is counted
  /// Distance tests of a step from these places: what the counted ones are held against.
  PredictedTests predicted_tests = nullptr;
  PredictedTraffic predicted_traffic = nullptr;  ///< of a sample, on a GPU
  /// Of kernels that are the rung's own; rung_experiment.cpp knows those of several rungs.
  std::vector<KernelPhase> kernel_phases = {};
  bool joins_steps = false;               ///< all steps of a sample are one launch
  std::uint32_t most_agents = 1U << 22U;  ///< with which a case ends within its time
  bool exact = true;                      ///< not: some agents may miss neighbours
  std::vector<Axis> axes = {};            ///< of its own, beside problem, spread, agents and world
};

/// Works that several rungs follow.
inline constexpr Source seed{
    "Breitbart, Case studies on GPU usage and data structure design, master's thesis, University "
    "of Kassel, 2008"};

/// The axis of a rung with cells, at most so many a dimension.
[[nodiscard]] Axis cells_axis(std::uint32_t most = most_cells);
/// The axis of a rung with lists that outlast a step.
[[nodiscard]] Axis skin_axis();
/// The axis of every rung on a GPU: whether what drawing needs is copied out.
[[nodiscard]] Axis shown_axis();
/// Likewise: the steps between the copies to the GPU and those back.
[[nodiscard]] Axis steps_axis();

/// All rungs, in their order.
[[nodiscard]] const std::vector<Rung>& ladder();
/// Throws std::out_of_range for a name that no rung has.
[[nodiscard]] const Rung& rung_named(std::string_view name);

/// What `strata list` prints about a rung.
[[nodiscard]] Benchmark declare_rung(const Rung& rung);

/// The choices of the session's case on a rung's own axes; what the rung has no axis for is 0.
[[nodiscard]] Choice choice_of(const Session& session);

/// Called by STRATA_RUNG.
bool add_to_ladder(const Rung& rung, Benchmark (*declare)(), Body body);

}  // namespace strata::neighbours
