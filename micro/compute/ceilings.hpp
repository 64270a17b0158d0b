// How much arithmetic can this chip do per second, and how much should it do?
//
// Every SM runs warps with several chains of multiply-adds each, long enough that the clock settles
// under this load. The limit is lanes of an SM × SMs × that clock. An SM's two register banks
// cannot deliver three new operands in the time of one instruction. The best form of operands
// depends on the chip, so each is measured, and the ceiling is the best of them. The number
// includes four loop instructions per 512.
#pragma once

#include "harness/cuda/benchmark.cuh"
#include "micro/compute/operations.hpp"

namespace strata::ceilings {

/// Data types of the multiply-adds.
enum class Arithmetic : std::uint8_t { fp32, fp64, fp16x2, bf16x2, int32, int8_dp4a };
inline constexpr auto arithmetics =
    choices_of<Arithmetic>("fp32", "fp64", "fp16x2", "bf16x2", "int32", "int8_dp4a");

[[nodiscard]] constexpr bool is_floating(Arithmetic arithmetic) {
  return arithmetic < Arithmetic::int32;
}
/// Operations of one instruction of a thread: a multiply-add is two.
[[nodiscard]] constexpr int operations_of_instruction(Arithmetic arithmetic) {
  constexpr std::array<int, 6> of{2, 2, 4, 4, 2, 8};
  return of.at(static_cast<std::size_t>(arithmetic));
}

/// Sources of the operands.
enum class Form : std::uint8_t { alternating, steady, square, uniform };
inline constexpr auto forms = choices_of<Form>("alternating", "steady", "square", "uniform");

/// Why a GPU does not measure the arithmetic in this form; null if it does, and a kernel exists.
[[nodiscard]] constexpr const char* why_not(Arithmetic arithmetic, Form form) {
  if (!is_floating(arithmetic) && form != Form::alternating) {
    return "integers reach their peak with alternating operands";
  }
  if (form == Form::uniform && operations_of_instruction(arithmetic) > 2) {
    return "packed arithmetic takes its operands from the lanes' own registers";
  }
  return nullptr;
}

inline std::optional<std::string> excludes(const Params& params, Backend backend) {
  const Arithmetic arithmetic = arithmetics.of(params.at("arithmetic"));
  const Form form = forms.of(params.at("form"));
  if (backend == Backend::cuda) {
    if (const char* const why = why_not(arithmetic, form)) return why;
    return std::nullopt;
  }
  // A CPU runs one of these cases: the form whose operands are always available.
  if (form != Form::steady || params.at("warps_per_sm") != "32") {
    return "a CPU has neither warps nor register banks";
  }
  if (arithmetic > Arithmetic::fp64) return "only these are peaks of every CPU";
  return std::nullopt;
}

/// The rows that both backends have for the slope `index`, and their timers.
inline void add_common_rows(Experiment& experiment, std::size_t index) {
  add_both(experiment, "instruction_cycles", "cycle", index);
  experiment.rows.push_back(grid_time(index));
}

inline Benchmark declare() {
  return {.suite = "micro",
          .name = "ceilings",
          .question = "How much arithmetic does the chip do per second, and how much should it do?",
          .axes = {arithmetics.axis("arithmetic", "data type of the multiply-adds"),
                   forms.axis(
                       "form",
                       "operands: from different registers at each step, from the same ones for "
                       "many steps, two of the three in one register, or one shared by all lanes"),
                   listed_axis("warps_per_sm", "warps of the block on each SM", {"8", "16", "32"},
                               {"16", "32"})},
          .counter_sets = {"flops"},
          .quantities = {{"flops_per_second",
                          "floating-point operations, whole chip; measured and modelled"},
                         {"flops_per_second_of_one_core", "host: the first core alone"},
                         {"operations_per_second",
                          "integer operations, whole chip; measured and modelled"},
                         {"share_of_limit", "share of the limit by SMs, lanes and measured clock"},
                         {"instruction_cycles", "SM cycles per warp instruction (host: per core)"},
                         {"grid_time", "duration of the whole launch, including start-up"},
                         {"core_clock", "clock of the core under this load"}},
          .seconds_per_case = 0.15,
          .excludes = excludes};
}

}  // namespace strata::ceilings
