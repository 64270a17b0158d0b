#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "micro/compute/instruction_cost.hpp"

#include <memory>

namespace strata::instruction_cost {
namespace {

/// On a CPU: slopes of dependent additions and of `ilp` chains. Per operation.
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
  if (ilp == 1) experiment.checks.emplace_back(Dependence{"ends of chains", {}});
  experiment.facts = [](const Experiment& measured) {
    return Facts{{"operations_of_long_run",
                  static_cast<std::int64_t>(measured.slopes[0].lengths.full.work)}};
  };
  return experiment;
}

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
