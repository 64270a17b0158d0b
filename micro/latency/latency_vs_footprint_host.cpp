#include "harness/case/error.hpp"
#include "harness/measure/engine.hpp"
#include "micro/latency/latency_vs_footprint.hpp"
#include "micro/latency/pointer_chase_host.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <string>

namespace strata::latency_vs_footprint {
namespace {

void run(Session& session) {
  const auto footprint = static_cast<std::uint64_t>(session.whole("footprint"));
  const auto stride = static_cast<std::uint64_t>(session.whole("stride"));
  const auto memory = cpu_facts(session.device().identity().facts).memory_bytes;
  if (memory && footprint > *memory / 4) {
    throw Skipped{"a chain in more than a quarter of the memory"};
  }
  // Small chains share a small room, so that a few of them do not take a gibibyte.
  constexpr std::uint64_t small_room = 16U << 20U;
  const std::uint64_t bytes = footprint <= small_room ? small_room : std::bit_ceil(footprint);
  constexpr std::align_val_t page{4096};
  const auto& room = session.cache().keep<pointer_chase::HostMemory>(
      "latency_vs_footprint/" + std::to_string(bytes), [&] {
        return pointer_chase::HostMemory{bytes, page};
      });
  const PermutedChain chain{.cycle = {footprint / stride, /*seed=*/2009},
                            .base = std::bit_cast<std::uintptr_t>(room.data()),
                            .stride = stride};
  const std::uint64_t slots = chain.cycle.slots();
  const auto address_at = [&](std::uint64_t step) { return chain.address_at(step); };
  pointer_chase::write_links(slots, address_at);
  pointer_chase::Chase chase{.word_at = address_at, .walks = {slots, slots, 1}};
  HostMachine machine;
  Experiment experiment = pointer_chase::describe_on(machine, chase, {.pilot = 4096});
  // What fits into a cache is there from one lap on.
  constexpr std::uint64_t most_of_a_lap = 1U << 18U;
  const auto lap =
      static_cast<std::uint32_t>(pointer_chase::in_whole_turns(std::min(slots, most_of_a_lap)));
  (void)launch_once(machine, experiment.slopes[0], {.length = {.rounds = lap}}, experiment.tally);
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::latency_vs_footprint
