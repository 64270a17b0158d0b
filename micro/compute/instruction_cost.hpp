// What does each operation of an SM cost: how long until its result can be used, and how many can
// be done per cycle?
//
// Chains of one operation, where each step needs the previous one. One warp with one chain pays the
// whole latency for each; many warps with several chains each hide it, up to the throughput of the
// unit. After Breitbart 2008, Table 2.2.
//
// The number includes the instructions that close a loop, and the effects of the register file: a
// multiply-add reads three registers, and each of the two banks delivers one per cycle, so that
// many warps of one chain pay for the bank that has two of them. Several chains share operands (the
// reuse cache) and do not. Reading the clock, starting and fetching instructions are not included:
// every number is a slope.
#pragma once

#include "harness/cuda/benchmark.cuh"
#include "micro/compute/host_operations.hpp"
#include "micro/compute/operations.hpp"

#include <memory>

namespace strata::instruction_cost {

inline constexpr unsigned max_host_ilp = host_operations::most_chains;

using operations::Shape;

/// Why there is no kernel with that many chains of an operation, or null.
[[nodiscard]] constexpr const char* why_not(operations::Space space, unsigned ilp) {
  const bool alone = space == operations::Space::barrier && ilp != 1;
  return alone ? "a barrier stops the whole warp: nothing can run beside it" : nullptr;
}

inline std::optional<std::string> excludes(const Params& params, Backend backend) {
  const std::string_view operation = params.at("operation");
  const auto ilp = number_of<unsigned>(params, "ilp");
  const auto is_among = [&](const auto& names) {
    return std::ranges::find(names, operation) != names.end();
  };
  if (backend == Backend::host) {
    if (!is_among(host_operations::Operations::names)) return "a CPU has no such instruction";
    if (params.at("warps_per_sm") != "1") return "a CPU has no warps";
    if (ilp == 2 || ilp == 8) return "a CPU runs 1 chain, 4, or enough to keep every unit busy";
    return std::nullopt;
  }
  if (is_among(host_operations::of_host_only)) {
    return "a GPU has no such instruction, or does more in one";
  }
  if (ilp == max_host_ilp) return "a CPU's number of chains";
  if (const char* why = why_not(operations::operation_named(operation).space, ilp)) return why;
  return std::nullopt;
}

inline Benchmark declare() {
  const auto& of_gpu = operations::Operations::names;
  const auto& of_host = host_operations::of_host_only;
  std::vector<std::string> names{of_gpu.begin(), of_gpu.end()};
  names.insert(names.end(), of_host.begin(), of_host.end());
  return {
      .suite = "micro",
      .name = "instruction_cost",
      .question =
          "What does each operation cost: cycles until its result can be used, and operations per "
          "cycle of an SM?",
      .axes = {listed_axis("operation", "operation in the chain", names),
               listed_axis("ilp",
                           "independent chains per warp (host: per core); 1 with one warp: latency",
                           {"1", "2", "4", "8", std::to_string(max_host_ilp)},
                           {"1", "4", std::to_string(max_host_ilp)}),
               listed_axis("warps_per_sm", "warps of the block on each SM (host: always 1)",
                           {"1", "2", "4", "8", "16", "32"}, {"1", "32"})},
      .counter_sets = {"flops"},
      .quantities = {{"operation_cycles",
                      "SM cycles per operation of a warp; with one chain on one warp: its latency, "
                      "of all its "
                      "instructions where it is several (fact instructions_of_an_operation)"},
                     {"operation_core_cycles", "host: the same, in cycles of the core"},
                     {"operation_time", "host: duration of one operation"},
                     {"operation_throughput",
                      "operations of threads per cycle of an SM (host: of a core)"},
                     {"operation_rate",
                      "operations of threads per second, whole chip (host: one core)"},
                     {"core_clock", "clock of the core during the work"}},
      .seconds_per_case = 0.02,
      .excludes = excludes};
}

}  // namespace strata::instruction_cost
