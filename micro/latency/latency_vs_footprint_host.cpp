#include "micro/latency/latency_vs_footprint.hpp"
#include "micro/latency/pointer_chase_host.hpp"

namespace strata::latency_vs_footprint {
namespace {

void run(Session& session) {
  const auto footprint = number_of<std::uint64_t>(session.params(), "footprint");
  const auto stride = number_of<std::uint64_t>(session.params(), "stride");
  require_quarter_of_memory(cpu_facts(session.device().identity().facts), footprint,
                            "a chain of this size");
  // Small chains share a small buffer, so that a few of them do not take a gibibyte.
  constexpr std::uint64_t small_room = 16U << 20U;
  const std::uint64_t bytes = footprint <= small_room ? small_room : std::bit_ceil(footprint);
  constexpr std::align_val_t page{4096};
  const auto& room = session.cache().keep<pointer_chase::HostMemory>(
      "latency_vs_footprint/" + std::to_string(bytes),
      [&] { return pointer_chase::host_memory(bytes, page); });
  const PermutedChain chain{.cycle = {footprint / stride, /*seed=*/2009},
                            .base = std::bit_cast<std::uintptr_t>(room.get()),
                            .stride = stride};
  const auto address_at = [&](std::uint64_t step) { return chain.address_at(step); };
  pointer_chase::write_links(chain.cycle.slots(), address_at);
  HostMachine machine;
  pointer_chase::measure_chain(session, machine, chain.cycle.slots(), address_at, {.pilot = 4096});
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::latency_vs_footprint
