// What every host backend that follows a chain of loads shares: the chain in memory, and its walks.
#pragma once

#include "harness/cpu/tsc.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/latency/pointer_chase.hpp"
#include "micro/pattern/permuted_cycle.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata::pointer_chase {

inline constexpr Timers host_timers{.unit = "tsc_cycle",
                                    .inside = "tsc_slope",
                                    .outside = "monotonic_slope",
                                    .clock = "tsc_over_monotonic"};

/// A slot of the chain: an address.
struct HostSlot {
  const HostSlot* next = nullptr;
};

/// Follows the chain for `loads` loads, a multiple of unroll. Nothing can be skipped: the end
/// depends on every load, and the asm hides from the compiler that the chain is only read.
[[gnu::noinline]] inline const HostSlot* follow(const HostSlot* at, std::uint64_t loads) {
  for (std::uint64_t i = 0; i < loads; i += unroll) {
#pragma GCC unroll 16
    for (std::uint32_t u = 0; u < unroll; ++u)
      at = at->next;
  }
  asm volatile("" : "+r"(at) : : "memory");
  return at;
}

/// Slots `stride` bytes apart, visited in the order of a cycle.
struct HostPlaces {
  std::byte* room = nullptr;
  PermutedCycle cycle;
  std::uint64_t stride = 0;

  [[nodiscard]] std::byte* operator()(std::uint64_t step) const {
    return room + cycle.slot_at(step) * stride;
  }
};

struct HostWalk {
  double ticks = 0;
  double seconds = 0;
};

/// A chain, and the subject of the protocol: pairs of walks along it, short and long. A walk goes
/// on where the last one ended. `Places` says where the slot of each step of its `cycle` begins.
template <class Places = HostPlaces>
class HostChase {
 public:
  explicit HostChase(const Places& places) : places_{places} { write(places); }

  /// Another chain in the place of this one.
  void write(const Places& places) {
    places_ = places;
    position_ = 0;
    HostSlot* at = std::construct_at(slot(0));
    for (std::uint64_t step = 1; step <= slots(); ++step) {
      HostSlot* const next = step < slots() ? std::construct_at(slot(step)) : slot(0);
      at->next = next;
      at = next;
    }
  }
  [[nodiscard]] std::uint64_t slots() const { return places_.cycle.slots(); }

  HostWalk walk(std::uint64_t loads) {
    const HostSlot* const begin = slot(position_);
    position_ = (position_ + loads) % slots();
    const double began = monotonic_raw_seconds();
    const std::uint64_t start = tsc_now();
    const HostSlot* const end = follow(begin, loads);
    const std::uint64_t stop = tsc_now();
    const double ended = monotonic_raw_seconds();
    ++checked_;
    if (end != slot(position_)) ++different_;
    return {.ticks = static_cast<double>(stop - start), .seconds = ended - began};
  }

  /// Decides by a walk of `pilot_loads` how long the pairs are: `least_loads` loads, where those
  /// take longer than a pair should.
  void size_walks(std::uint32_t pilot_loads, double least_loads = 0) {
    constexpr double timed_seconds = 2e-4;  // shorter than the time between two interrupts
    const double ticks_of_load = walk(pilot_loads).ticks / pilot_loads;
    const double ticks = std::max(timed_seconds * tsc_hertz(), least_loads * ticks_of_load);
    loads_ = loads_for(ticks, ticks_of_load, /*warm=*/0, ~std::uint64_t{0});
  }

  void prepare() {}

  Observation observe() {
    constexpr int pairs = 5;  // of which the median counts: most meet no interrupt
    std::vector<Observation> several;
    several.reserve(pairs);
    for (int i = 0; i < pairs; ++i)
      several.push_back(observe_pair());
    return median_record(several, &Observation::inside, &Observation::nearest,
                         &Observation::farthest, &Observation::slowest, &Observation::outside,
                         &Observation::seconds, &Observation::core_hertz);
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }
  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "chain ends against the cycle");
  }
  [[nodiscard]] const Loads& loads() const { return loads_; }

 private:
  [[nodiscard]] HostSlot* slot(std::uint64_t step) const {
    return static_cast<HostSlot*>(static_cast<void*>(places_(step)));
  }

  Observation observe_pair() {
    const HostWalk brief = walk(loads_.brief);
    const HostWalk full = walk(loads_.full);
    const double inside = (full.ticks - brief.ticks) / loads_.slope();
    const double seconds = (full.seconds - brief.seconds) / loads_.slope();
    return {.inside = inside,
            .nearest = inside,
            .farthest = inside,
            .slowest = inside,
            .outside = seconds * tsc_hertz(),
            .seconds = seconds,
            .core_hertz = full.ticks / full.seconds};
  }

  Places places_;
  std::uint64_t position_ = 0;
  Loads loads_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

}  // namespace strata::pointer_chase
