// The ladder: every rung, in order, with its story. A rung changes one thing of the rung before it.
//
// A new rung is an entry in ladder.cpp, and one file that computes it: rungs/NAME.cu or
// host/NAME.cpp. Host only.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/record/measurement.hpp"
#include "nbody/gravity/problem/problem.hpp"
#include "nbody/gravity/reference/gravity.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::nbody {

/// In which order a rung adds up the pulls upon a body: what its error hangs on.
enum class Sum {
  running,  ///< one sum of single precision over all bodies
  blocks    ///< a sum for each piece of at most 256 bodies or so, and a sum of those
};

struct Rung {
  std::string name;
  Backend backend = Backend::cuda;
  std::string before;       ///< the rung that it changes; empty for the first of a backend
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
  std::vector<std::string> layouts;  ///< in which it can have its bodies; the first is the default
  std::vector<Axis> axes;            ///< of its own, beside problem, systems, bodies and layout
};

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
/// The largest error of a single body may be 64 times that: where the pulls of all sides nearly
/// cancel, the sum is small and its error is not.
///
/// Where one body outweighs all others (`dominated`), sums stay near one number and every later
/// term is rounded at the same place, perhaps each time the same way: then n roundings of a running
/// sum, and 256 + n/256 of blocks.
[[nodiscard]] double rms_bound(const Rung& rung, std::uint32_t bodies, bool dominated = false);
inline constexpr double maximum_over_rms = 64;

/// `result`: every number is there, and right within the rung's bound.
[[nodiscard]] Gate accuracy_gate(const Rung& rung, std::uint32_t bodies, const Error& error,
                                 const std::string& what, bool dominated = false);

/// Of an interaction, by the peers' convention (GPU Gems 3, ch. 31): what "nominal" means.
inline constexpr double nominal_flops = 20;

/// The names, for what has to be known when the program is compiled.
inline constexpr std::array<std::string_view, 21> rung_names{
    "serial",         "openmp",     "cpu_soa",     "simd",         "simd_rsqrt",      "cpu_blocked",
    "cpu_pair_once",  "naive",      "tiled",       "one_launch",   "fast_math",       "unrolled",
    "invariants",     "block_size", "read_only",   "warp_shuffle", "constant_memory", "registers",
    "register_banks", "pair_once",  "several_gpus"};
[[nodiscard]] consteval std::size_t rung_index(std::string_view name) {
  for (std::size_t i = 0; i < rung_names.size(); ++i) {
    if (rung_names[i] == name) return i;
  }
  throw "no rung has that name";
}

/// What `strata list` says of rung `index`.
[[nodiscard]] Benchmark declare_rung(std::size_t index);
template <std::size_t index>
[[nodiscard]] Benchmark declare() {
  return declare_rung(index);
}

}  // namespace strata::nbody
