#include "micro/compute/instruction_cost.hpp"

#include "harness/case/choices.hpp"
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "harness/record/statistics.hpp"

#include <memory>

namespace strata::instruction_cost {
namespace {

using operations::Shape;

std::optional<std::string> excludes(const Params& params, Backend backend) {
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

/// Starts at the last warp's start: the barrier before a pass (BAR.SYNC.DEFER_BLOCKING) lets a warp
/// proceed to its clock read, and blocks it after that, while others are still in the previous
/// pass.
Passes passes_of(std::span<const Stamp> warps) {
  Passes seen;
  for (unsigned pass = 1; pass < passes; ++pass) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    for (const Stamp& stamp : warps) {
      begin = std::max(begin, stamp.cycles[mark_of(pass)]);
      end = std::max(end, stamp.cycles[mark_of(pass) + 1]);
    }
    seen.cycles.at(pass - 1) = static_cast<double>(end - begin);
  }
  return seen;
}

/// The median over all SMs, whose `warps` write consecutive stamps.
double median_of(const Launched& launched, unsigned warps, double (Passes::*value)() const) {
  std::vector<double> of_sms;
  const std::span<const Stamp> stamps{launched.stamps};
  for (std::size_t first = 0; first < stamps.size(); first += warps)
    of_sms.push_back((passes_of(stamps.subspan(first, warps)).*value)());
  return median(of_sms);
}

/// From the long launch alone. Cells: the bend, and a chain's operations in the shortest timed
/// pass.
Window passes_of_median_sm(const Shape& shape) {
  return {.name = "passes of the median SM, from its last warp's start to its last warp's end",
          .read = [shape](const Launched& /*brief*/, const Launched& full) {
            const double work = full.length.work / rounds_of_all_passes;
            const double cycles = median_of(full, shape.warps, &Passes::slope) / work;
            return Inside{.cycles = cycles,
                          .slowest = cycles,
                          .low = cycles,
                          .high = cycles,
                          .hertz = median_hertz(full),
                          .cells = {median_of(full, shape.warps, &Passes::bend),
                                    static_cast<double>(shape.chain_of(full.length.rounds))}};
          }};
}

/// Four rounds. The warm-up round is also in the launch without rounds, which is subtracted.
std::optional<CountPlan> count_plan(const Shape& shape, const GpuFacts& gpu) {
  constexpr std::uint32_t rounds = 4;
  const operations::Operation& operation = shape.operation;
  const std::uint64_t of_warps =
      std::uint64_t{rounds} * operation.body * shape.warps * rounds_of_all_passes * gpu.sms;
  if (operation.space == operations::Space::global) {
    // The ring spans two sectors.
    constexpr std::uint64_t sectors =
        operations::distinct_lanes * sizeof(std::uint64_t) / sector_bytes;
    return CountPlan{.length = {.rounds = rounds},
                     .loads = LoadPrediction{.requests = of_warps, .sectors = of_warps * sectors},
                     .served_by = ServedBy::l1,
                     .reads = static_cast<double>(of_warps)};
  }
  return operations::counts_of(operation, {.rounds = rounds}, {},
                               static_cast<double>(of_warps * warp_lanes), "operation");
}

}  // namespace

Benchmark declare() {
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

std::uint32_t rounds_for(double cycles, double cycles_of_a_round) {
  constexpr double least = 5;  // the short launch has a fifth of them
  const double rounds = cycles / (rounds_of_all_passes * std::max(cycles_of_a_round, 1.0));
  return static_cast<std::uint32_t>(std::max(least, std::floor(rounds)));
}

Experiment describe(const Shape& shape, const GpuFacts& gpu, std::span<const std::uint64_t> ends) {
  constexpr double timed_cycles = 6e5;  // 0.3 ms: thousands of timer steps
  const operations::Operation& operation = shape.operation;
  const double threads = static_cast<double>(gpu.sms) * warp_lanes;  // of one warp on each SM
  Experiment experiment =
      operations::on_every_sm(shape, gpu, ends, [](std::uint32_t rounds) -> std::uint64_t {
        return 1 + std::uint64_t{rounds_of_all_passes} * rounds;
      });
  Slope& slope = experiment.slopes.front();
  slope.size = [=](const auto& run) {
    const double pass = median_of(run({.rounds = 1}), shape.warps, &Passes::slope);
    return fifth_and_whole(rounds_for(timed_cycles, pass),
                           double{1} * operation.body * shape.warps * rounds_of_all_passes);
  };
  slope.window = passes_of_median_sm(shape);
  slope.held = true;
  add_both(experiment, "operation_cycles", "cycle");
  constexpr double issued = 4.0 * warp_lanes;  // by the schedulers of an SM in a cycle
  experiment.rows.push_back({.quantity = "operation_throughput",
                             .unit = "operation/cycle",
                             .method = By::inside,
                             .value = per_cycle(warp_lanes),
                             .most = issued});
  experiment.rows.push_back({"operation_rate", "1/s", By::outside, per_second(threads)});
  if (operation.space == operations::Space::global) experiment.unproved = {.gate = "level"};
  experiment.counts = count_plan(shape, gpu);
  if (shape.chains == 1 && shape.warps == 1) {  // dependent: the length of the chain must show
    experiment.checks.emplace_back(Dependence{"ends of chains", {}});
    experiment.checks.emplace_back(
        Linearity{.bend = of_slope([](const Seen& seen) { return seen.inside.cells.at(0); }),
                  .length = of_slope([](const Seen& seen) { return seen.inside.cells.at(1); })});
  }
  experiment.facts = [=](const Experiment& measured) {
    const std::uint64_t chain = shape.chain_of(measured.slopes[0].lengths.full.rounds);
    Facts facts{{"operations_of_a_loop", std::int64_t{shape.operation.body}},
                {"shortest_chain", static_cast<std::int64_t>(chain)}};
    if (shape.operation.instructions > 0) {
      facts["instructions_of_an_operation"] = std::int64_t{shape.operation.instructions};
    }
    return facts;
  };
  return experiment;
}

Experiment describe_host(unsigned ilp) {
  constexpr int most_meet_no_interrupt = 5;
  constexpr double timed_seconds = 1.25e-4;  // of a long run: an eighth of a tick
  constexpr std::uint32_t trial_turns = 128;
  constexpr double work = host_operations::steps;  // of a chain in a turn
  Experiment experiment;
  experiment.pairs = most_meet_no_interrupt;
  experiment.slopes = {{.size = operations::lengths_by_least(timed_seconds, work * ilp, trial_turns,
                                                             /*warm_seconds=*/0)}};
  add_both(experiment, "operation_cycles", "cycle");
  constexpr const char* method = "over_dependent_adds";
  experiment.rows.insert(experiment.rows.end(),
                         {{"operation_core_cycles", "cycle", method, cycles_of()},
                          {"operation_time", "s", By::outside,
                           of_slope([](const Seen& seen) { return seen.seconds; })},
                          {"operation_throughput", "operation/cycle", method, per_cycle(1)},
                          {"operation_rate", "1/s", By::outside, per_second(1)}});
  experiment.checked = "chain ends";
  experiment.facts = [](const Experiment& measured) {
    return Facts{{"operations_of_long_run",
                  static_cast<std::int64_t>(measured.slopes[0].lengths.full.work)}};
  };
  return experiment;
}

namespace {

#if defined(__x86_64__)

/// Makes `slope` launch `ilp` chains of an operation.
template <class Op>
void launch_chains(Slope& slope, HostMachine& machine, unsigned ilp) {
  host_operations::Words<typename Op::Word> starts{};
  for (std::uint32_t c = 0; c < starts.size(); ++c)
    starts[c] = host_operations::start_of<Op>(c);
  const auto x = std::make_shared<host_operations::Words<typename Op::Word>>();
  slope.launch = machine.on_every_core(
      [=, of = host_operations::shared_operands<Op>()](std::size_t /*rank*/, const Call& call) {
        std::copy_n(starts.begin(), ilp, x->begin());
        with_value<1U, 4U, max_host_ilp>(ilp, [&]<unsigned chains>() {
          Op::template run<chains>(*x, of, call.length.rounds);
          return true;
        });
        return std::uint64_t{0};
      });
  const auto wanted = [=](std::uint32_t turns) {
    host_operations::Words<typename Op::Word> ends{};
    for (std::uint32_t c = 0; c < ilp; ++c)
      ends[c] = host_operations::expected_end<Op>(c, turns);
    return ends;
  };
  slope.verify = [=, of_turns = operations::once_each(wanted)](
                     const Call& call, std::span<const Stamp> /*stamps*/, Tally& tally) mutable {
    const auto& ends = of_turns(call.length.rounds);
    for (std::uint32_t c = 0; c < ilp; ++c)
      tally.one(operations::bits((*x)[c]) == operations::bits(ends[c]));
  };
}

void run(Session& session) {
  if (!__builtin_cpu_supports("avx") || !__builtin_cpu_supports("fma")) {
    throw Skipped{"the CPU lacks AVX or fused multiply-add"};
  }
  HostMachine machine{allowed_cpus().front()};
  const auto ilp = static_cast<unsigned>(session.integer("ilp"));
  Experiment experiment = describe_host(ilp);
  operations::with_named(session.param("operation"), host_operations::Operations{},
                         [&]<class Op>() {
                           launch_chains<Op>(experiment.slopes[0], machine, ilp);
                           session.fact("instructions", std::string{Op::instructions});
                         });
  measure(session, machine, experiment);
}

#else

void run(Session& /*session*/) {
  throw Skipped{"the instructions are written for x86-64"};
}

#endif

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::instruction_cost
