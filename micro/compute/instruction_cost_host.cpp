// The first core runs chains of scalar instructions: one chain for the latency, ten side by side
// for the rate. The clock of a CPU varies and its counter (TSC) does not follow it, so every pair
// of runs is accompanied by one of dependent additions, which take a cycle each: they measure the
// cycles of the core, and changes of the clock cancel.
#include "harness/case/choices.hpp"
#include "harness/case/error.hpp"
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "micro/compute/host_operations.hpp"
#include "micro/compute/instruction_cost.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace strata::instruction_cost {
namespace {

#if defined(__x86_64__)

/// `ilp` chains of an operation, run and verified.
template <class Op>
class Chains {
 public:
  explicit Chains(unsigned ilp) : ilp_{ilp} {}

  void run(std::uint64_t turns) {
    for (std::uint32_t c = 0; c < ilp_; ++c)
      x_[c] = starts_[c];
    with_value<1U, 4U, max_host_ilp>(ilp_, [&]<unsigned ilp>() {
      Op::template run<ilp>(x_, operands_, turns);
      return true;
    });
  }

  void verify(std::uint64_t turns, Tally& tally) {
    const auto [found, is_new] = known_.try_emplace(turns);
    for (std::uint32_t c = 0; c < ilp_; ++c) {
      if (is_new) found->second[c] = host_operations::expected_end<Op>(c, turns);
      tally.one(operations::bits(x_[c]) == operations::bits(found->second[c]));
    }
  }

 private:
  using Words = host_operations::Words<typename Op::Word>;
  unsigned ilp_;
  operations::Operands<typename Op::Word> operands_ = host_operations::shared_operands<Op>();
  Words starts_ = [] {
    Words starts{};
    for (std::uint32_t c = 0; c < starts.size(); ++c)
      starts[c] = host_operations::start_of<Op>(c);
    return starts;
  }();
  Words x_{};
  std::map<std::uint64_t, Words> known_;
};

/// Has `slope` launch `ilp` chains of an operation.
template <class Op>
void launch_chains(Slope& slope, HostMachine& machine, unsigned ilp) {
  const auto chains = std::make_shared<Chains<Op>>(ilp);
  slope.launch = machine.on_every_core([chains](std::size_t /*rank*/, const Call& call) {
    chains->run(call.length.rounds);
    return std::uint64_t{0};
  });
  slope.verify = [chains](const Call& call, std::span<const Stamp> /*stamps*/, Tally& tally) {
    chains->verify(call.length.rounds, tally);
  };
}

/// The same for the operation of that name. Returns its instructions.
template <class... Op>
std::string launch_named(std::string_view name, Slope& slope, HostMachine& machine, unsigned ilp,
                         operations::List<Op...> /*all*/) {
  std::string_view instructions;
  (void)((Op::name == name &&
          (launch_chains<Op>(slope, machine, ilp), instructions = Op::instructions, true)) ||
         ...);
  return std::string{instructions};
}

void run(Session& session) {
  if (!__builtin_cpu_supports("avx") || !__builtin_cpu_supports("fma")) {
    throw Skipped{"the CPU lacks AVX or fused multiply-adds"};
  }
  HostMachine machine{allowed_cpus().front()};
  const auto ilp = static_cast<unsigned>(session.integer("ilp"));
  Experiment experiment = describe_host(ilp);
  launch_chains<host_operations::Iadd>(experiment.slopes[0], machine, 1);
  session.fact("instructions", launch_named(session.param("operation"), experiment.slopes[1],
                                            machine, ilp, host_operations::Operations{}));
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
