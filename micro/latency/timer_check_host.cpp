#include "micro/latency/pointer_chase_host.hpp"
#include "micro/latency/timer_check.hpp"

namespace strata::timer_check {
namespace {

void run(Session& session) {
  std::vector<pointer_chase::HostSlot> chain(slots);
  const auto order = order_of_slots();
  const auto address_at = [&](std::uint64_t step) {
    return std::bit_cast<std::uint64_t>(&chain[order[step % slots]]);
  };
  pointer_chase::write_links(slots, address_at);
  const auto* const first = &chain[order[0]];
  const auto follow = [first](std::uint32_t loads) {
    return std::bit_cast<std::uint64_t>(pointer_chase::follow(first, loads));
  };
  HostMachine machine;
  Experiment experiment = described(1U << 17U, 1U << 19U, address_at);
  experiment.prepare = [&] { experiment.tally.one(follow(slots) == address_at(0)); };
  experiment.slopes[0].launch = machine.on_every_core(
      [&](std::size_t /*rank*/, const Call& call) { return follow(call.length.rounds); });
  experiment.unproved.why = "no hardware counters on the host";
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::timer_check
