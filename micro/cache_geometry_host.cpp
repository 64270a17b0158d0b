// The host backend of cache_geometry: cache_geometry.hpp says what it asks.
//
// A walk counts with the fastest of several laps: what disturbs a core makes it slower, never
// faster, and where the chain does not fit no lap is fast. The pages are as large as the system
// gives them, so that neighbouring lines stay neighbours in the sets of a cache that goes by
// physical addresses, and few translations are needed.
#include "harness/core/error.hpp"
#include "harness/core/gates.hpp"
#include "harness/host/tsc.hpp"
#include "micro/cache_geometry.hpp"
#include "micro/pattern/permuted_chain.hpp"
#include "micro/pointer_chase.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>

namespace strata::cache_geometry {
namespace {

using pointer_chase::Loads;
using pointer_chase::Observation;

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t most_l2 = 16 * kibi * kibi;  // writing a longer chain takes a core long

/// A slot of the chain: an address.
struct Slot {
  const Slot* next = nullptr;
};

/// Follows the chain for `loads` loads, a multiple of unroll. Nothing can be skipped: the end
/// depends on every load, and the asm hides from the compiler that the chain is only read.
[[gnu::noinline]] const Slot* follow(const Slot* at, std::uint64_t loads) {
  for (std::uint64_t i = 0; i < loads; i += pointer_chase::unroll) {
#pragma GCC unroll 16
    for (std::uint32_t u = 0; u < pointer_chase::unroll; ++u)
      at = at->next;
  }
  asm volatile("" : "+r"(at) : : "memory");
  return at;
}

/// Memory on large pages, where the system has them.
class Room {
 public:
  explicit Room(std::size_t bytes)
      : bytes_{static_cast<std::byte*>(::operator new(bytes, alignment))} {
    // A wish: without it the sizes beyond L1 are less sharp, and no less true.
    (void)madvise(bytes_.get(), bytes, MADV_HUGEPAGE);
    std::fill_n(bytes_.get(), bytes, std::byte{0xA5});
  }
  [[nodiscard]] std::byte* data() const { return bytes_.get(); }

 private:
  static constexpr std::align_val_t alignment{2 * kibi * kibi};
  struct Free {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, alignment); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
};

/// Writes chains into the room and walks along them.
class Walker {
 public:
  explicit Walker(std::uint64_t bytes) : room_{bytes} {}

  /// Cycles of a load in the fastest of some laps.
  double operator()(std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
    write(footprint, stride, lap);
    const std::uint64_t loads =
        pointer_chase::in_whole_turns(std::clamp(slots(), least_loads, most_loads));
    // Writing went along the chain: the first load of a long one finds what a lap leaves behind.
    const bool is_long = slots() > most_loads;
    if (!is_long) (void)walk(loads);
    const int laps = is_long ? 3 : 5;
    double fastest = std::numeric_limits<double>::max();
    for (int i = 0; i < laps; ++i)
      fastest = std::min(fastest, walk(loads).ticks);
    return fastest / static_cast<double>(loads);
  }

  /// A pair of walks, short and long, over a chain that fits.
  void prepare_pairs(std::uint64_t footprint, std::uint64_t stride) {
    write(footprint, stride, 0);
    constexpr std::uint32_t pilot_loads = 4096;
    (void)walk(pilot_loads);
    constexpr double timed_seconds = 2e-4;  // shorter than the time between two interrupts
    loads_ =
        pointer_chase::loads_for(timed_seconds * tsc_hertz(), walk(pilot_loads).ticks / pilot_loads,
                                 /*warm=*/0, ~std::uint64_t{0});
  }
  void prepare() {}
  Observation observe() {
    constexpr int pairs = 5;  // of which the median counts: most meet no interrupt
    std::vector<Observation> several;
    several.reserve(pairs);
    for (int i = 0; i < pairs; ++i)
      several.push_back(observe_pair());
    const auto median_of = [&](double Observation::*value) {
      std::vector<double> values;
      values.reserve(several.size());
      for (const auto& one : several)
        values.push_back(one.*value);
      return median(values);
    };
    const double inside = median_of(&Observation::inside);
    return {.inside = inside,
            .nearest = inside,
            .farthest = inside,
            .slowest = median_of(&Observation::slowest),
            .outside = median_of(&Observation::outside),
            .seconds = median_of(&Observation::seconds),
            .core_hertz = median_of(&Observation::core_hertz)};
  }
  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "chain ends against the cycle");
  }

 private:
  static constexpr std::uint64_t least_loads = 4096;      // far above the cost of reading the clock
  static constexpr std::uint64_t most_loads = 1U << 14U;  // of a long chain a part is enough

  struct Timed {
    double ticks = 0;
    double seconds = 0;
  };

  [[nodiscard]] std::uint64_t slots() const { return chain_.cycle.slots(); }
  [[nodiscard]] Slot* slot(std::uint64_t step) const {
    return static_cast<Slot*>(static_cast<void*>(room_.data() + chain_.address_at(step)));
  }

  void write(std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
    constexpr std::uint64_t seed = 2009;
    chain_ = {.cycle = PermutedCycle{footprint / stride, seed + lap}, .base = 0, .stride = stride};
    position_ = 0;
    Slot* at = std::construct_at(slot(0));
    for (std::uint64_t step = 1; step <= slots(); ++step) {
      Slot* const next = step < slots() ? std::construct_at(slot(step)) : slot(0);
      at->next = next;
      at = next;
    }
  }

  Timed walk(std::uint64_t loads) {
    const Slot* const begin = slot(position_);
    position_ = (position_ + loads) % slots();
    const double began = monotonic_raw_seconds();
    const std::uint64_t start = tsc_now();
    const Slot* const end = follow(begin, loads);
    const std::uint64_t stop = tsc_now();
    const double ended = monotonic_raw_seconds();
    ++checked_;
    if (end != slot(position_)) ++different_;
    return {.ticks = static_cast<double>(stop - start), .seconds = ended - began};
  }

  Observation observe_pair() {
    const Timed brief = walk(loads_.brief);
    const Timed full = walk(loads_.full);
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

  Room room_;
  PermutedChain chain_{.cycle = PermutedCycle{1, 0}, .base = 0, .stride = line_bytes};
  std::uint64_t position_ = 0;
  Loads loads_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

/// Where the size of that cache is looked for: from well inside it, and beyond the one before it.
Search search_for(Property property, const Facts& device) {
  // The walk shares L1 with its own stack and with the timer's page, which take a way of a few
  // sets.
  constexpr double share_of_l1 = 0.02;
  // Beyond the reach of the first translations a load costs some cycles more; that is no miss.
  constexpr double share_of_l2 = 0.05;
  if (property != Property::l2_size) {
    return {.least = 8 * kibi,
            .most = 512 * kibi,
            .granule = line_bytes,
            .stride = line_bytes,
            .least_share = share_of_l1};
  }
  // Other cores' data and the pages' places blur the edge of an L2: to find it within a line would
  // claim more than there is.
  const auto l1 = reported(Property::l1_size, 0, Backend::host, device);
  const auto l2 = reported(Property::l2_size, 0, Backend::host, device);
  if (l2 && l2->bytes > most_l2 / 4) throw Skipped{"writing chains of that size takes too long"};
  const std::uint64_t expected = l2 ? l2->bytes : kibi * kibi;
  return {.least = std::max(expected / 16, l1 ? 2 * l1->bytes : 0),
          .most = 3 * expected,
          .granule = std::max(expected / 32 / line_bytes, std::uint64_t{1}) * line_bytes,
          .stride = line_bytes,
          .whole_laps = false,
          .least_share = share_of_l2};
}

void run(Session& session) {
  const Property property = property_from(session.param("property")).value();
  const Facts& device = session.device().identity().facts;
  const auto repetitions = static_cast<unsigned>(session.plan().min_samples);
  const Search search = search_for(property, device);
  constexpr std::uint64_t beyond = 2;  // a window may reach beyond the limit
  Walker walker{beyond * search.most};
  const Walk walk = [&](std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
    return walker(footprint, stride, lap);
  };
  Found found;
  std::uint64_t fitting = 0;
  if (property == Property::l1_line) {
    const Found size = find_size(search, walk, 3);
    constexpr std::uint64_t least = 16;
    constexpr std::uint64_t most = 248;
    constexpr std::uint64_t step = 8;
    constexpr std::uint64_t parts = 16;
    const auto strides = strides_of(least, most, step, 2 * line_bytes);
    found = find_line(footprint_beyond(size.bytes, parts), strides, walk, repetitions);
    found.walks += size.walks;
    fitting = size.bytes / 2;
  } else {
    found = find_size(search, walk, repetitions);
    fitting = found.bytes / 2;
  }
  report(session, property, found);
  walker.prepare_pairs(fitting, line_bytes);
  const auto seen = collect(walker, session.plan());
  pointer_chase::report(session, seen, 1,
                        {.unit = "tsc_cycle",
                         .inside = "tsc_slope",
                         .outside = "monotonic_slope",
                         .clock = "tsc_over_monotonic"});
  session.add(walker.result());
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::cache_geometry
