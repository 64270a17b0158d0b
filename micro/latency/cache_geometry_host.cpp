// The host backend of cache_geometry: cache_geometry.hpp says what it asks.
//
// A walk counts with the fastest of several laps: what disturbs a core makes it slower, never
// faster, and where the chain does not fit no lap is fast. The pages are as large as the system
// gives them, so that neighbouring lines stay neighbours in the sets of a cache that goes by
// physical addresses, and few translations are needed.
#include "harness/case/error.hpp"
#include "micro/latency/cache_geometry.hpp"
#include "micro/latency/pointer_chase_host.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>

namespace strata::cache_geometry {
namespace {

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t most_l2 = 16 * kibi * kibi;  // writing a longer chain takes a core long

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
  explicit Walker(std::uint64_t bytes) : room_{bytes}, chase_{places(line_bytes, line_bytes, 0)} {}

  /// Cycles of a load in the fastest of some laps.
  double operator()(std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
    chase_.write(places(footprint, stride, lap));
    const std::uint64_t loads =
        pointer_chase::in_whole_turns(std::clamp(chase_.slots(), least_loads, most_loads));
    // Writing went along the chain: the first load of a long one finds what a lap leaves behind.
    const bool is_long = chase_.slots() > most_loads;
    if (!is_long) (void)chase_.walk(loads);
    const int laps = is_long ? 3 : 5;
    double fastest = std::numeric_limits<double>::max();
    for (int i = 0; i < laps; ++i)
      fastest = std::min(fastest, chase_.walk(loads).ticks);
    return fastest / static_cast<double>(loads);
  }

  /// The subject of the protocol, over a chain that fits.
  pointer_chase::HostChase<>& pairs(std::uint64_t footprint, std::uint64_t stride) {
    chase_.write(places(footprint, stride, 0));
    constexpr std::uint32_t pilot_loads = 4096;
    (void)chase_.walk(pilot_loads);
    chase_.size_walks(pilot_loads);
    return chase_;
  }

 private:
  static constexpr std::uint64_t least_loads = 4096;      // far above the cost of reading the clock
  static constexpr std::uint64_t most_loads = 1U << 14U;  // of a long chain a part is enough

  [[nodiscard]] pointer_chase::HostPlaces places(std::uint64_t footprint, std::uint64_t stride,
                                                 unsigned lap) const {
    constexpr std::uint64_t seed = 2009;
    return {.room = room_.data(), .cycle = {footprint / stride, seed + lap}, .stride = stride};
  }

  Room room_;
  pointer_chase::HostChase<> chase_;
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
  auto& chase = walker.pairs(fitting, line_bytes);
  const auto seen = collect(chase, session.plan());
  pointer_chase::report(session, seen, 1, pointer_chase::host_timers);
  session.add(chase.result());
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::cache_geometry
