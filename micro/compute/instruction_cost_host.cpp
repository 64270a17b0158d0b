// The first core runs chains of scalar instructions: one for the latency, ten side by side for the
// rate. A CPU's counter (TSC) does not follow its clock, so every pair of runs is accompanied by
// one of dependent additions, which take a cycle each: changes of the clock cancel.
#include "harness/case/choices.hpp"
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "micro/compute/host_operations.hpp"
#include "micro/compute/instruction_cost.hpp"

#include <memory>

namespace strata::instruction_cost {
namespace {

#if defined(__x86_64__)

/// Has `slope` launch `ilp` chains of an operation.
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
    throw Skipped{"the CPU lacks AVX or fused multiply-adds"};
  }
  HostMachine machine{allowed_cpus().front()};
  const auto ilp = static_cast<unsigned>(session.integer("ilp"));
  Experiment experiment = describe_host(ilp);
  launch_chains<host_operations::Iadd>(experiment.slopes[0], machine, 1);
  operations::with_named(session.param("operation"), host_operations::Operations{},
                         [&]<class Op>() {
                           launch_chains<Op>(experiment.slopes[1], machine, ilp);
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
