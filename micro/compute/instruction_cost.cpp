// The declaration and the report of instruction_cost: instruction_cost.hpp says what it asks.
#include "micro/compute/instruction_cost.hpp"

#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace strata::instruction_cost {
namespace {

bool has(std::span<const std::string_view> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::optional<std::string> excludes_host(const Params& params) {
  if (!has(host_operations::Operations::names, params.at("operation"))) {
    return "no instruction of a CPU";
  }
  if (params.at("warps_per_sm") != "1") return "a CPU has no warps";
  if (params.at("ilp") == "2" || params.at("ilp") == "8") {
    return "a CPU runs 1 chain, 4, or as many as keep any unit busy";
  }
  return std::nullopt;
}

/// A barrier has no chains to run side by side.
std::optional<std::string> excludes(const Params& params, Backend backend) {
  if (backend == Backend::host) return excludes_host(params);
  if (has(host_operations::of_host_only, params.at("operation"))) {
    return "a GPU has no such instruction, or does more with one";
  }
  if (params.at("ilp") == std::to_string(max_host_ilp)) return "a CPU's number of chains";
  if (params.at("operation") == operations::Barrier::name && params.at("ilp") != "1") {
    return "a barrier holds the whole warp: there is nothing to run beside it";
  }
  return std::nullopt;
}

}  // namespace

Benchmark declare() {
  std::vector<std::string> names{operations::Operations::names.begin(),
                                 operations::Operations::names.end()};
  names.insert(names.end(), host_operations::of_host_only.begin(),
               host_operations::of_host_only.end());
  return {
      .suite = "micro",
      .name = "instruction_cost",
      .question =
          "What does each operation cost: cycles until its result can be used, and "
          "how many an SM does in a cycle?",
      .axes = {{.name = "operation",
                .meaning = "what the chain is made of",
                .choices = names,
                .defaults = names},
               {.name = "ilp",
                .meaning =
                    "chains of a warp (host: of a core) side by side; 1 with one warp: latency",
                .choices = {"1", "2", "4", "8", std::to_string(max_host_ilp)},
                .defaults = {"1", "4", std::to_string(max_host_ilp)}},
               {.name = "warps_per_sm",
                .meaning = "warps of the block on each SM (host: always 1)",
                .choices = {"1", "2", "4", "8", "16", "32"},
                .defaults = {"1", "32"}}},
      .counter_sets = {"flops"},
      .quantities = {{"operation_cycles",
                      "SM cycles of an operation of a warp; of one chain on one warp: its latency"},
                     {"operation_core_cycles",
                      "host: cycles of the core, dependent additions for "
                      "its clock"},
                     {"operation_time", "host: of one operation"},
                     {"operation_throughput",
                      "operations of threads in a cycle of an SM (host: of a core)"},
                     {"operation_rate",
                      "operations of threads in a second, whole chip (host: one core)"},
                     {"core_clock", "clock of the core while it worked"}},
      .seconds_per_case = 0.02,
      .excludes = excludes};
}

std::uint32_t rounds_for(double cycles, double cycles_of_a_round) {
  constexpr double least = 5;  // the short launch has a fifth of them
  const double rounds = cycles / (rounds_of_all_passes * std::max(cycles_of_a_round, 1.0));
  return static_cast<std::uint32_t>(std::max(least, std::floor(rounds)));
}

Gate linear_gate(std::span<const double> bends, std::uint64_t operations) {
  constexpr double bound = 1;
  const double bend = median(bends);
  return {"model", std::abs(bend) <= bound ? Verdict::passed : Verdict::failed,
          fmt::format("chains of {0}, {1} and {2} operations: the second is {3:+.2f} cycles off "
                      "the line (bound {4:g})",
                      operations, 2 * operations, 4 * operations, bend, bound)};
}

void report(Session& session, const Collection<Observation>& seen,
            std::optional<std::uint64_t> dependent) {
  const Timed timed{session, seen};
  timed.add("operation_cycles", "cycle", "clock64_slope", &Observation::inside);
  timed.add("operation_cycles", "cycle", "event_slope", &Observation::outside);
  timed.add("operation_throughput", "operation/cycle", "clock64_slope",
            [](const Observation& o) { return warp_lanes / o.inside; });
  timed.add("operation_rate", "1/s", "event_slope", &Observation::operations_per_second);
  timed.core_clock("clock64_over_globaltimer", &Observation::core_hertz);
  timed.timers(&Observation::inside, "clock64_slope", &Observation::outside, "event_slope");
  const auto bends = seen.series(&Observation::bend);
  if (dependent) {
    session.add(linear_gate(bends, *dependent));
    session.fact("linearity_error_cycles", median(bends));
  }
}

STRATA_DECLARED(declare);

}  // namespace strata::instruction_cost
