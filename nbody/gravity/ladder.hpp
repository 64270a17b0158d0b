// The ladder: every rung, in order. A rung changes one thing of the rung before it.
//
// A rung is one file, rungs/NAME.cu or host/NAME.cpp, which holds its story and its code, and one
// line in CMakeLists.txt, which sets the order. Without CUDA the story of a .cu file is compiled as
// C++ and its kernels are left out. Host only.
#pragma once

#include "harness/base/enum_words.hpp"
#include "harness/case/benchmark.hpp"
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

/// The order in which a rung adds up the contributions to a body's acceleration. It determines the
/// rounding error.
enum class Sum {
  running,  ///< one single-precision sum over all bodies
  blocks,   ///< a sum for each piece of about 256 bodies at most, and a sum of those
  halves    ///< the same, but a part of each contribution is rounded to half precision
};
constexpr auto words_of(Sum /*unused*/) {
  return std::to_array<std::string_view>({"running", "blocks", "halves"});
}

struct Rung {
  std::string name;
  Backend backend = Backend::cuda;
  std::string before = {};  ///< the rung that it changes; empty for the first of a backend
  std::string question;     ///< the question that it answers
  std::string change;       ///< the one change
  std::string source;       ///< first publication
  std::string expectation;  ///< the expected effect, and what the counters should show
  Sum sum = Sum::running;
  bool approximate = false;  ///< uses the hardware's reciprocal square root
  /// Instructions that a warp issues per interaction, counted in the machine code of the inner loop
  /// (compute capability 9.0) at the best value of the rung's own axes; 0 if the issue rate is not
  /// a meaningful limit, and on a CPU.
  double issue_slots = 0;
  /// Instructions of the GPU's special function unit per interaction, if they may be the limit.
  double special_functions = 0;
  unsigned bodies_of_block = 0;  ///< computed by a block; 0 if an axis sets it, and on a CPU
  bool launch_for_each_system = false;
  /// Threads of a warp or a block that one read of a body serves; 0 if there is no single number.
  unsigned threads_of_read = 0;
  double vector_operations = 0;  ///< per interaction, on a CPU; 0: not counted
  /// Layouts of the bodies that it supports; the first is the default.
  std::vector<std::string> layouts = {"soaoas"};
  std::vector<Axis> axes = {};  ///< its own, besides problem, systems, bodies and layout
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

/// Publications that several rungs follow.
inline constexpr Source thessaly{
    "Papadouli, Markovitsis, Sanchez Cabrera, Parallelization and Optimization of Nbody Simulation "
    "on GPU, University of Thessaly, 2026"};
inline constexpr Source siegel{
    "Siegel, Ributzka, Li, CUDA Memory Optimizations for Large Data-Structures in the Gravit "
    "Simulator, ICPP Workshops 2009"};
inline constexpr Source handbook{"Wilt, The CUDA Handbook, 2013, ch. 14"};

/// All rungs; those of each backend are in order.
[[nodiscard]] const std::vector<Rung>& ladder();
/// Throws std::out_of_range for a name that no rung has.
[[nodiscard]] const Rung& rung_named(std::string_view name);

/// Bound of the relative root mean square error against double precision.
///
/// The error of each term is a few roundings. A running sum of n terms adds √n of them, because
/// their signs vary (Higham, Accuracy and Stability of Numerical Algorithms, 2.8 and 4.2). The
/// bound is doubled for an approximate reciprocal square root. In roundings of 2^-24:
///   running: 8 + √n          blocks: 8 + √256 + √(n/256)
///   halves:  as blocks, and 2^5
/// `halves` rounds the difference from the group's contribution to half precision, with an error of
/// up to 2^-12 of that difference, whose sign varies from pair to pair. The nearest far groups
/// contribute most, and the number of those around a body does not depend on the number of bodies.
/// The same arithmetic in double precision gives 2^-20 of the sum; the bound is twice that.
///
/// The largest error of a single body may be 64 times the bound: where contributions from all sides
/// nearly cancel, the sum is small but its error is not.
///
/// If one body outweighs all others (`dominated`), sums stay near one number, and every later term
/// may be rounded in the same direction: then a running sum has n roundings, and blocks have
/// 256 + n/256.
[[nodiscard]] double rms_bound(const Rung& rung, std::uint32_t bodies, bool dominated = false);

/// An error together with the rung's bounds.
[[nodiscard]] Accuracy accuracy_of(const Rung& rung, std::uint32_t bodies, const Error& error,
                                   std::string what, bool dominated = false);

/// What `strata list` shows for a rung.
[[nodiscard]] Benchmark declare_rung(const Rung& rung);

/// Called by STRATA_RUNG.
bool add_to_ladder(const Rung& rung, Benchmark (*declare)(), Body body);

}  // namespace strata::nbody
