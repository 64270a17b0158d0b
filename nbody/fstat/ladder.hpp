// The ladder of the F-statistic, from a call for each sum to templates that fill a GPU: every rung,
// in order. A rung changes one thing of the one before it.
//
// A rung is one file, host/NAME.cpp or rungs/NAME, with its story and its code, and one line in
// CMakeLists.txt, whose order is the ladder's; its benchmark is fstat_NAME, since names are unique.
// On a GPU a rung with a kernel of its own is a .cu, another a .cpp. Without CUDA the story is
// compiled alone. Host only.
#pragma once

#include "harness/case/rungs.hpp"
#include "harness/measure/phases.hpp"
#include "nbody/fstat/model/costs.hpp"
#include "nbody/fstat/problem/observation.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strata::fstat {

struct Rung {
  std::string name;
  Backend backend = Backend::host;
  std::string before = {};  ///< the rung that it changes; empty for the first of a backend
  std::string question;     ///< that it answers
  std::string change;       ///< the one thing that is new
  std::string source;       ///< first publication
  std::string expectation;  ///< of its effect, and of what is counted
  /// By reciprocals, sines and cosines that are not rounded right: its errors may be twice as
  /// large.
  bool approximate = false;
  PredictedCosts predicted = nullptr;  ///< on a GPU
  /// Instructions that a warp issues for a term of each of its lanes, counted in the machine code
  /// of the loop over signals (compute capability 9.0), by the bins that share a reciprocal. Empty
  /// where a limit by issue would be meaningless.
  std::map<std::uint32_t, double> issue_slots = {};
  double most_terms = 0;  ///< for which a case ends within its time; 0: 1e9 on a GPU, 1e8 on a CPU
  std::vector<Axis> axes = {};  ///< of its own, beside sky, cells, stacks and frequencies
};

/// Works that several rungs follow.
inline constexpr Source seed{
    "Breitbart, Case studies on GPU usage and data structure design, master's thesis, University "
    "of Kassel, 2008"};

/// The choices of a case on a rung's own axes.
struct Choice {
  std::uint32_t group = 1;  ///< bins that share a reciprocal
};
[[nodiscard]] Choice choice_of(const Session& session);
/// The axis of a rung whose bins may share a reciprocal.
[[nodiscard]] Axis group_axis();

/// All rungs, in their order.
[[nodiscard]] const std::vector<Rung>& ladder();
/// Throws std::out_of_range for a name that no rung has.
[[nodiscard]] const Rung& rung_named(std::string_view name);

/// What `strata list` prints about a rung.
[[nodiscard]] Benchmark declare_rung(const Rung& rung);

/// Called by STRATA_RUNG.
bool add_to_ladder(const Rung& rung, Benchmark (*declare)(), Body body);

}  // namespace strata::fstat
