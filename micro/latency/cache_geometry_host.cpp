// A step of the search counts with the fastest of several laps: what disturbs a core makes it
// slower, never faster, and where the chain does not fit no lap is fast. The pages are as large as
// the system gives them, so that neighbouring lines stay neighbours in the sets of a cache that
// goes by physical addresses, and few translations are needed.
#include "harness/case/error.hpp"
#include "micro/latency/cache_geometry.hpp"
#include "micro/latency/pointer_chase_host.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace strata::cache_geometry {
namespace {

using pointer_chase::HostSlot;

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t line_bytes = 64;

/// Where the size of that cache is looked for: from well inside it, and beyond the one before it.
Search search_for(Property property, const CpuFacts& cpu) {
  if (property != Property::l2_size) {
    // The walk shares L1 with its own stack and with the timer's page, which take a way of a few
    // sets.
    constexpr double share_of_l1 = 0.02;
    return {.least = 8 * kibi,
            .most = 512 * kibi,
            .granule = line_bytes,
            .stride = line_bytes,
            .least_share = share_of_l1};
  }
  const std::uint64_t expected = cpu.l2_bytes.value_or(kibi * kibi);
  constexpr std::uint64_t most_expected = 4 * kibi * kibi;
  if (expected > most_expected) throw Skipped{"writing chains of that size takes too long"};
  // Beyond the reach of the first translations a load costs some cycles more; that is no miss.
  constexpr double share_of_l2 = 0.05;
  // Other cores' data and the pages' places blur the edge of an L2: to find it within a line would
  // claim more than there is.
  return {.least = std::max(expected / 16, 2 * cpu.l1_bytes.value_or(0)),
          .most = 3 * expected,
          .granule = std::max(expected / 32 / line_bytes, std::uint64_t{1}) * line_bytes,
          .stride = line_bytes,
          .whole_laps = false,
          .least_share = share_of_l2};
}

void run(Session& session) {
  const Property property = properties.of(session.param("property"));
  const CpuFacts cpu = cpu_facts(session.device().identity().facts);
  const Search where = search_for(property, cpu);
  const std::uint64_t bytes = 2 * where.most;  // a window may reach beyond the limit
  const auto memory = pointer_chase::host_memory(bytes, std::align_val_t{2 * kibi * kibi});
  // A wish: without it the sizes beyond L1 are less sharp, and no less true.
  (void)madvise(memory.get(), bytes, MADV_HUGEPAGE);
  std::fill_n(memory.get(), bytes, std::byte{0xA5});
  HostMachine machine;
  Chains chains{machine, std::bit_cast<std::uintptr_t>(memory.get())};
  chains.experiment = pointer_chase::describe_on(machine, chains.chase, {.pilot = 4096});
  chains.experiment.unproved = {};
  chains.experiment.facts = nullptr;
  chains.write = [](const PermutedChain& chain) {
    pointer_chase::write_links(chain.cycle.slots(),
                               [&](std::uint64_t step) { return chain.address_at(step); });
  };
  // All laps in one launch: between two launches the harness itself passes through L1.
  Slope walks = chains.experiment.slopes[0];
  std::uint32_t lap = 0;  // loads
  std::uint32_t laps = 0;
  walks.launch = machine.on_every_core([&](std::size_t /*rank*/, const Call&, Stamp& stamp) {
    const auto* at = std::bit_cast<const HostSlot*>(chains.chase.begin);
    at = pointer_chase::follow(at, chains.chase.warm);
    stamp.cycles[2] = tsc_now();
    for (std::uint32_t i = 0; i < laps; ++i) {
      at = pointer_chase::follow(at, lap);
      stamp.cycles[3 + i] = tsc_now();
    }
    return std::bit_cast<std::uint64_t>(at);
  });
  const auto fastest_lap = [&](std::uint64_t footprint, std::uint64_t stride, unsigned repetition) {
    constexpr std::uint64_t least_loads = 4096;      // far above the cost of reading the clock
    constexpr std::uint64_t most_loads = 1U << 14U;  // of a long chain a part is enough
    const std::uint64_t slots = footprint / stride;
    lap = pointer_chase::in_whole_turns(std::clamp(slots, least_loads, most_loads));
    // Writing went along the chain: the first load of a long one finds what a lap leaves behind. A
    // short one is walked once before.
    const bool is_long = slots > most_loads;
    laps = is_long ? 3 : 5;
    chains.lay(footprint, stride, repetition, /*warm=*/is_long ? 0 : lap);
    const Launched seen =
        launch_once(machine, walks, {.length = {.rounds = laps * lap}}, chains.experiment.tally);
    const auto& marks = seen.stamps.front().cycles;
    std::uint64_t fastest = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t i = 0; i < laps; ++i)
      fastest = std::min(fastest, marks[3 + i] - marks[2 + i]);
    return static_cast<double>(fastest) / lap;
  };
  const std::uint64_t fits =
      search(session, property, where, {.least = 16, .most = 248, .step = 8, .parts = 16},
             reported(property, cpu), fastest_lap);
  chains.lay(fits, line_bytes, 0, /*warm=*/0);
  measure(session, machine, chains.experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::cache_geometry
