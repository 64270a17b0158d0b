// How much arithmetic can this chip do in a second, and how much should it?
//
// Every SM runs warps with several chains of multiply-adds each, long enough that the clock under
// this load is the clock that is held. Beside it the limit: lanes of an SM × SMs × that clock.
// Where the operands come from decides whether an SM can take an instruction whenever a unit is
// free, so the same arithmetic is done in several forms (ceilings_forms.hpp) and by several numbers
// of warps, and the ceiling is the best of them. They are the flat parts of a roofline; the slopes
// are the benchmark bandwidth's.
//
// Inside the number that is no arithmetic: the instructions that close a loop, four for every 512.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"
#include "micro/compute/operations.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::ceilings {

[[nodiscard]] Benchmark declare();

/// Words of the axis form: see ceilings_forms.hpp.
inline constexpr std::array<std::string_view, 4> forms{"alternating", "steady", "square",
                                                       "uniform"};
inline constexpr unsigned most_warps_per_sm = 32;  ///< of one block

/// A kind of arithmetic, and what one instruction of a thread does of it.
struct Arithmetic {
  std::string_view name;       ///< on the axis
  std::string_view operation;  ///< of micro/compute/operations.hpp
  int operations;              ///< a multiply-add is two
  bool floating;
};
inline constexpr std::array<Arithmetic, 6> kinds{{
    {"fp32", operations::Ffma::name, 2, true},
    {"fp64", operations::Dfma::name, 2, true},
    {"fp16x2", operations::Hfma2::name, 4, true},
    {"bf16x2", operations::Bfma2::name, 4, true},
    {"int32", operations::Imad::name, 2, false},
    {"int8_dp4a", operations::Dp4a::name, 8, false},
}};
/// Throws std::out_of_range for a name that no kind has.
[[nodiscard]] const Arithmetic& kind_of(std::string_view name);

/// Instructions of threads that an SM of this compute capability ("9.0") takes in a cycle, by the
/// CUDA C++ Best Practices Guide 13, "Throughput of Native Arithmetic Instructions", which counts
/// results: a packed instruction has two. Nothing for what the guide does not say.
[[nodiscard]] std::optional<int> lanes_per_sm(std::string_view capability, std::string_view kind);

struct Observation {
  double inside = 0;   ///< cycles of an SM for an instruction of a warp; median of all SMs
  double outside = 0;  ///< the same by events
  double instructions_per_second = 0;  ///< of threads, whole chip
  double grid_seconds = 0;
  double core_hertz = 0;
};

/// Adds the measurements, the limit where it is known, and the timer and clock gates.
void report(Session& session, const Collection<Observation>& seen, const Arithmetic& kind,
            unsigned sms);

}  // namespace strata::ceilings
