// The ladder: every rung, in order. A rung changes one thing of the rung before it.
//
// A rung is one file, rungs/NAME.cu or host/NAME.cpp, with its story and its code, and one line in
// CMakeLists.txt, whose order is the ladder's. Without CUDA the story of a .cu is compiled as C++
// and its kernels are left out. Host only.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/enum_words.hpp"
#include "harness/case/rungs.hpp"
#include "harness/record/gates.hpp"
#include "nbody/gravity/reference/gravity.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::nbody {

/// In which order a rung adds up the pulls upon a body: what its error hangs on.
enum class Sum {
  running,  ///< one sum of single precision over all bodies
  blocks,   ///< a sum for each piece of at most 256 bodies or so, and a sum of those
  halves    ///< the same, of pulls of which a part is rounded to half precision
};
constexpr auto words_of(Sum /*unused*/) {
  return std::to_array<std::string_view>({"running", "blocks", "halves"});
}

struct Rung {
  std::string name;
  Backend backend = Backend::cuda;
  std::string before = {};  ///< the rung that it changes; empty for the first of a backend
  std::string question;     ///< that it answers
  std::string change;       ///< the one thing that is new
  std::string source;       ///< who did it first, and where they say so
  std::string expectation;  ///< of its effect, and of what the counters should show
  Sum sum = Sum::running;
  bool approximate = false;  ///< by the hardware's reciprocal square root
  /// Instructions that a warp issues for each of its interactions, counted in the machine code of
  /// the inner loop (compute capability 9.0) at the best value of the rung's own axes; 0 where a
  /// limit by issue would say nothing. On a CPU: 0.
  double issue_slots = 0;
  /// Of an interaction, on the special function unit of a GPU, where they may be the limit.
  double special_functions = 0;
  unsigned bodies_of_block = 0;  ///< that a block computes; 0: an axis says so, or a CPU
  bool launch_for_each_system = false;
  /// Threads, of a warp or a block, that one read of a body serves; 0 where that is not simple.
  unsigned threads_of_read = 0;
  double vector_operations = 0;  ///< of an interaction, on a CPU; 0 where nobody counted them
  /// In which it can have its bodies; the first is the default.
  std::vector<std::string> layouts = {"soaoas"};
  std::vector<Axis> axes = {};  ///< of its own, beside problem, systems, bodies and layout
};

/// An axis of listed numbers.
[[nodiscard]] inline Axis numbers(const char* name, const char* meaning,
                                  std::vector<std::string> choices,
                                  std::vector<std::string> defaults) {
  return {.name = name,
          .meaning = meaning,
          .choices = std::move(choices),
          .defaults = std::move(defaults)};
}

/// Works that several rungs follow.
inline constexpr Source thessaly{
    "Papadouli, Markovitsis, Sanchez Cabrera, Parallelization and Optimization of Nbody Simulation "
    "on GPU, University of Thessaly, 2026"};
inline constexpr Source siegel{
    "Siegel, Ributzka, Li, CUDA Memory Optimizations for Large Data-Structures in the Gravit "
    "Simulator, ICPP Workshops 2009"};
inline constexpr Source handbook{"Wilt, The CUDA Handbook, 2013, ch. 14"};

/// All rungs: a backend's stand in their order.
[[nodiscard]] const std::vector<Rung>& ladder();
/// Throws std::out_of_range for a name that no rung has.
[[nodiscard]] const Rung& rung_named(std::string_view name);

/// Bound of the relative root mean square error against double precision.
///
/// Each term is right to a few roundings; a running sum of n terms adds √n of them, as they fall
/// either way (Higham, Accuracy and Stability of Numerical Algorithms, 2.8 and 4.2); twice that for
/// an approximate reciprocal square root. In roundings of 2^-24:
///   running: 8 + √n          blocks: 8 + √256 + √(n/256)
///   halves:  as blocks, and 2^5
/// What is rounded to half precision is the difference from the pull of the group, to 2^-12 of it,
/// either way from pair to pair. It counts most for the nearest of the far groups, of which there
/// are as many about a body however many bodies there are: 2^-20 of the sum, found by the
/// arithmetic in double precision, and twice that here.
/// The largest error of a single body may be 64 times that: where the pulls of all sides nearly
/// cancel, the sum is small and its error is not.
///
/// Where one body outweighs all others (`dominated`), sums stay near one number and every later
/// term is rounded at the same place, perhaps each time the same way: then n roundings of a running
/// sum, and 256 + n/256 of blocks.
[[nodiscard]] double rms_bound(const Rung& rung, std::uint32_t bodies, bool dominated = false);

/// An error beside the rung's bounds.
[[nodiscard]] Accuracy accuracy_of(const Rung& rung, std::uint32_t bodies, const Error& error,
                                   std::string what, bool dominated = false);

/// What `strata list` says of a rung.
[[nodiscard]] Benchmark declare_rung(const Rung& rung);

namespace detail {

bool add_to_ladder(const Rung& rung, Benchmark (*declare)(), Body body);

template <const Rung& rung, auto make>
bool enrol_rung() {
  return add_to_ladder(
      rung, [] { return declare_rung(rung); }, strata::detail::body_of<rung, make>());
}

}  // namespace detail
}  // namespace strata::nbody

/// Registers a rung: its story, and its MakeRungKernel (on a GPU) or MakeHostKernel (on a CPU).
#define STRATA_RUNG(story, make)                            \
  [[maybe_unused]] static const bool strata_rung_enrolled = \
      ::strata::nbody::detail::enrol_rung<story, make>()
