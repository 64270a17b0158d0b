// A step of the search counts with the fastest of several laps: what disturbs a core makes it
// slower, never faster, and where the chain does not fit no lap is fast. The pages are as large as
// the system gives them, so that neighbouring lines stay neighbours in the sets of a cache that
// goes by physical addresses, and few translations are needed.
#include "harness/case/error.hpp"
#include "harness/measure/engine.hpp"
#include "micro/latency/cache_geometry.hpp"
#include "micro/latency/pointer_chase_host.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

namespace strata::cache_geometry {
namespace {

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t most_l2 = 16 * kibi * kibi;  // writing a longer chain takes a core long

/// Memory on large pages, where the system has them.
pointer_chase::HostMemory memory_of(std::size_t bytes) {
  constexpr std::align_val_t huge_page{2 * kibi * kibi};
  pointer_chase::HostMemory memory{bytes, huge_page};
  // A wish: without it the sizes beyond L1 are less sharp, and no less true.
  (void)madvise(memory.data(), bytes, MADV_HUGEPAGE);
  std::fill_n(memory.data(), bytes, std::byte{0xA5});
  return memory;
}

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
  if (cpu.l2_bytes.value_or(0) > most_l2 / 4) {
    throw Skipped{"writing chains of that size takes too long"};
  }
  // Other cores' data and the pages' places blur the edge of an L2: to find it within a line would
  // claim more than there is.
  const std::uint64_t expected = cpu.l2_bytes.value_or(kibi * kibi);
  // Beyond the reach of the first translations a load costs some cycles more; that is no miss.
  constexpr double share_of_l2 = 0.05;
  return {.least = std::max(expected / 16, 2 * cpu.l1_bytes.value_or(0)),
          .most = 3 * expected,
          .granule = std::max(expected / 32 / line_bytes, std::uint64_t{1}) * line_bytes,
          .stride = line_bytes,
          .whole_laps = false,
          .least_share = share_of_l2};
}

/// How a chain of so many slots is walked: `laps` of `loads` loads each.
struct Laps {
  explicit Laps(std::uint64_t slots)
      : loads{static_cast<std::uint32_t>(
            pointer_chase::in_whole_turns(std::clamp(slots, least_loads, most_loads)))},
        is_long{slots > most_loads} {}
  static constexpr std::uint64_t least_loads = 4096;      // far above the cost of reading the clock
  static constexpr std::uint64_t most_loads = 1U << 14U;  // of a long chain a part is enough
  std::uint32_t loads;
  /// Writing went along the chain: the first load of a long one finds what a lap leaves behind. A
  /// short one is walked once before.
  bool is_long;
  [[nodiscard]] std::uint32_t timed() const { return is_long ? 3 : 5; }
  [[nodiscard]] std::uint32_t untimed() const { return is_long ? 0 : 1; }
};

/// All laps in one launch: between two launches the harness itself passes through L1.
std::function<void(const Call&)> walk_laps(HostMachine& machine,
                                           const pointer_chase::Chase& chase) {
  return machine.on_every_core([&chase](std::size_t /*rank*/, const Call&, Stamp& stamp) {
    const Laps laps{chase.walks.slots()};
    const auto* at = std::bit_cast<const pointer_chase::HostSlot*>(chase.begin);
    at = pointer_chase::follow(at, std::uint64_t{laps.untimed()} * laps.loads);
    stamp.cycles[2] = tsc_now();
    for (std::uint32_t lap = 0; lap < laps.timed(); ++lap) {
      at = pointer_chase::follow(at, laps.loads);
      stamp.cycles[3 + lap] = tsc_now();
    }
    return std::bit_cast<std::uint64_t>(at);
  });
}

/// Mean cycles of a load in the fastest of the laps along the chain that was laid.
double fastest_lap(HostMachine& machine, Chains& chains, const Slope& walks) {
  const Laps laps{chains.chase.walks.slots()};
  const Call call{.length = {.rounds = (laps.untimed() + laps.timed()) * laps.loads}};
  const Launched seen = launch_once(machine, walks, call, chains.experiment.tally);
  const auto& marks = seen.stamps.front().cycles;
  std::uint64_t fastest = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t lap = 0; lap < laps.timed(); ++lap)
    fastest = std::min(fastest, marks[3 + lap] - marks[2 + lap]);
  return static_cast<double>(fastest) / laps.loads;
}

void run(Session& session) {
  const Property property = properties.of(session.param("property"));
  const CpuFacts cpu = cpu_facts(session.device().identity().facts);
  const Search where = search_for(property, cpu);
  constexpr std::uint64_t beyond = 2;  // a window may reach beyond the limit
  const auto memory = memory_of(beyond * where.most);
  HostMachine machine;
  Chains chains{machine, std::bit_cast<std::uintptr_t>(memory.data())};
  chains.experiment = pointer_chase::describe_on(machine, chains.chase, {.pilot = 4096});
  chains.experiment.unproved = {};
  chains.experiment.facts = nullptr;
  chains.write = [](const PermutedChain& chain) {
    pointer_chase::write_links(chain.cycle.slots(),
                               [&](std::uint64_t step) { return chain.address_at(step); });
  };
  Slope walks = chains.experiment.slopes[0];
  walks.launch = walk_laps(machine, chains.chase);
  const std::uint64_t fits =
      search(session, property, where, {.least = 16, .most = 248, .step = 8, .parts = 16},
             reported(property, cpu),
             [&](std::uint64_t footprint, std::uint64_t stride, unsigned repetition) {
               chains.lay(footprint, stride, repetition, /*warm=*/0);
               return fastest_lap(machine, chains, walks);
             });
  chains.lay(fits, line_bytes, 0, /*warm=*/0);
  measure(session, machine, chains.experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::cache_geometry
