// A pointer chase on the host: the chain in memory, and following it.
#pragma once

#include "harness/cpu/footprints.hpp"
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/measure/engine.hpp"
#include "micro/latency/pointer_chase.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace strata::pointer_chase {

/// A slot of the chain: an address.
struct HostSlot {
  const HostSlot* next = nullptr;
};

/// Follows the chain for `loads` loads, a multiple of unroll. The end depends on every load, and
/// the asm hides from the compiler that the chain is only read.
[[gnu::noinline]] inline const HostSlot* follow(const HostSlot* at, std::uint64_t loads) {
  for (std::uint64_t i = 0; i < loads; i += unroll) {
#pragma GCC unroll 16
    for (std::uint32_t u = 0; u < unroll; ++u)
      at = at->next;
  }
  asm volatile("" : "+r"(at) : : "memory");
  return at;
}

/// Writes the chain through address_at(0), address_at(1), … and back to the first.
template <class AddressAt>
void write_links(std::uint64_t slots, AddressAt&& address_at) {
  const auto slot_at = [&](std::uint64_t step) {
    return std::construct_at(std::bit_cast<HostSlot*>(address_at(step)));
  };
  HostSlot* const first = slot_at(0);
  HostSlot* at = first;
  for (std::uint64_t step = 1; step < slots; ++step) {
    HostSlot* const next = slot_at(step);
    at->next = next;
    at = next;
  }
  at->next = first;
}

/// Memory for chains. Not initialised: writing a chain touches what it uses.
struct FreeAligned {
  std::align_val_t alignment;
  void operator()(std::byte* at) const noexcept { ::operator delete(at, alignment); }
};
using HostMemory = std::unique_ptr<std::byte, FreeAligned>;
[[nodiscard]] inline HostMemory host_memory(std::size_t bytes, std::align_val_t alignment) {
  return {static_cast<std::byte*>(::operator new(bytes, alignment)), FreeAligned{alignment}};
}

/// describe() with its launch by one core. Samples are shorter than between two interrupts.
[[nodiscard]] inline Experiment describe_on(HostMachine& machine, Chase& chase, Sizing sizing) {
  constexpr double timed_seconds = 2e-4;
  sizing.cycles = timed_seconds * tsc_hertz() * core_pace().cycles_per_tick;
  // A trial that was preempted, or in which a hypervisor walked its own page tables, shows
  // microseconds for one load.
  sizing.least_loads = 256;
  Experiment experiment = describe(chase, sizing);
  experiment.slopes[0].launch =
      machine.on_every_core([&chase](std::size_t /*rank*/, const Call& call) {
        const auto* const at = std::bit_cast<const HostSlot*>(chase.begin);
        return std::bit_cast<std::uint64_t>(follow(at, call.length.rounds));
      });
  experiment.pairs = 5;  // most of them meet no interrupt
  experiment.unproved = {.gate = "level", .why = "no hardware counters on the host"};
  experiment.facts = [](const Experiment& done) {
    return Facts{{"loads", static_cast<std::int64_t>(done.slopes[0].lengths.full.rounds)}};
  };
  return experiment;
}

/// Measures the chain that write_links() wrote, after a lap, so that the caches hold what they can.
template <class AddressAt>
void measure_chain(Session& session, HostMachine& machine, std::uint64_t slots,
                   AddressAt&& address_at, const Sizing& sizing) {
  constexpr std::uint64_t most_of_a_lap = 1U << 18U;
  Chase chase{.word_at = address_at, .walks = {slots, slots, 1}};
  Experiment experiment = describe_on(machine, chase, sizing);
  const Call lap{.length = {.rounds = in_whole_turns(std::min(slots, most_of_a_lap))}};
  (void)launch_once(machine, experiment.slopes[0], lap, experiment.tally);
  measure(session, machine, experiment);
}

}  // namespace strata::pointer_chase
