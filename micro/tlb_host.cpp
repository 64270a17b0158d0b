// The host backend of tlb: tlb.hpp says what it asks.
//
// One core follows a chain with one word in each slot, in random order, first through pages of
// 4 KiB, then through the same places in pages of 2 MiB: caches see the same lines, so that what
// differs is the translation. Which pages the system gave is read in /proc/self/smaps. Nobody tells
// what is below them in a virtual machine: where its memory lies in pages of 4 KiB, the CPU keeps
// translations of 4 KiB whatever the system gave, and both curves bend at one place; where the
// hypervisor keeps the tables (shadow paging), a miss may be its business and take microseconds.
#include "harness/core/error.hpp"
#include "harness/core/gates.hpp"
#include "harness/core/protocol.hpp"
#include "harness/host/pin.hpp"
#include "harness/host/topology.hpp"
#include "harness/host/tsc.hpp"
#include "micro/pattern/permuted_cycle.hpp"
#include "micro/pointer_chase.hpp"
#include "micro/tlb.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

namespace strata::tlb {
namespace {

using pointer_chase::Loads;
using pointer_chase::Observation;

constexpr std::uint64_t small_page = 4096;
constexpr std::uint64_t huge_page = std::uint64_t{2} << 20U;

/// A slot of the chain: an address.
struct Slot {
  const Slot* next = nullptr;
};

/// Follows the chain for `loads` loads. Nothing can be skipped: the end depends on every load, and
/// the asm hides from the compiler that the chain is only read.
[[gnu::noinline]] const Slot* follow(const Slot* at, std::uint64_t loads) {
  for (std::uint64_t i = 0; i < loads; i += pointer_chase::unroll) {
#pragma GCC unroll 16
    for (std::uint32_t u = 0; u < pointer_chase::unroll; ++u)
      at = at->next;
  }
  asm volatile("" : "+r"(at) : : "memory");
  return at;
}

/// Addresses for the longest chain, on a boundary of huge pages; memory comes with the first touch.
class Room {
 public:
  explicit Room(bool huge) : huge_{huge} {
    void* const at = mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "mmap"};
    mapping_.reset(static_cast<std::byte*>(at));
    void* aligned = at;
    std::size_t room = reserved;
    start_ = static_cast<std::byte*>(std::align(huge_page, bytes, aligned, room));
    if (madvise(start_, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) {
      throw Skipped{"the system does not let a program choose its pages"};
    }
  }
  [[nodiscard]] std::byte* data() const { return start_; }

  /// Throws Skipped where the first `used` bytes, all of them touched, are not in such pages.
  void verify(std::uint64_t used) {
    touched_ = std::max(touched_, (used + huge_page - 1) / huge_page * huge_page);
    const std::uint64_t in_huge = bytes_in_huge_pages();
    if (huge_ ? in_huge < touched_ : in_huge != 0) {
      throw Skipped{fmt::format("of {} bytes {} came in pages of 2 MiB", touched_, in_huge)};
    }
  }

 private:
  static constexpr std::size_t bytes = most_host_footprint;
  static constexpr std::size_t reserved = bytes + huge_page;
  struct Unmap {
    void operator()(std::byte* at) const noexcept { (void)munmap(at, reserved); }
  };

  /// As the system counts them in the mappings that these addresses lie in.
  [[nodiscard]] std::uint64_t bytes_in_huge_pages() const {
    std::ifstream in{"/proc/self/smaps"};
    if (!in) throw Skipped{"the system does not tell which pages it gave"};
    const auto from = std::bit_cast<std::uintptr_t>(start_);
    constexpr std::uint64_t kibi = 1024;
    constexpr int hexadecimal = 16;
    bool ours = false;
    std::uint64_t found = 0;
    for (std::string line; std::getline(in, line);) {
      const auto dash = line.find('-');
      if (dash != std::string::npos && line.find(':') > line.find(' ')) {
        const std::uintptr_t first = std::stoull(line.substr(0, dash), nullptr, hexadecimal);
        const std::uintptr_t end = std::stoull(line.substr(dash + 1), nullptr, hexadecimal);
        ours = first < from + bytes && from < end;
      } else if (ours && line.starts_with("AnonHugePages:")) {
        std::istringstream value{line.substr(line.find(':') + 1)};
        std::uint64_t kibibytes = 0;
        value >> kibibytes;
        found += kibibytes * kibi;
      }
    }
    return found;
  }

  bool huge_;
  std::unique_ptr<std::byte, Unmap> mapping_;
  std::byte* start_ = nullptr;
  std::uint64_t touched_ = 0;
};

/// The subject of the protocol: pairs of walks, short and long, along one chain.
class Chase {
 public:
  Chase(std::byte* room, std::uint64_t slots, std::uint64_t stride)
      : room_{room}, stride_{stride}, cycle_{slots, /*seed=*/2009} {
    Slot* at = std::construct_at(slot(0));
    for (std::uint64_t step = 1; step <= slots; ++step) {
      Slot* const next = step < slots ? std::construct_at(slot(step)) : slot(0);
      at->next = next;
      at = next;
    }
    // What can be kept is kept from one lap on: a walk goes on where the last one ended.
    (void)walk(pointer_chase::in_whole_turns(slots));
    constexpr std::uint32_t pilot_loads = 512;
    const Walk pilot = walk(pilot_loads);
    // A hypervisor that keeps the tables itself may take microseconds for one translation.
    const double ticks_of_load = pilot.ticks / pilot_loads;
    const double ticks = std::max(timed_seconds * tsc_hertz(), least_loads * ticks_of_load);
    loads_ = pointer_chase::loads_for(ticks, ticks_of_load, /*warm=*/0, ~std::uint64_t{0});
  }

  void prepare() {}

  Observation observe() {
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
    return {.inside = median_of(&Observation::inside),
            .slowest = median_of(&Observation::slowest),
            .outside = median_of(&Observation::outside),
            .seconds = median_of(&Observation::seconds),
            .core_hertz = median_of(&Observation::core_hertz)};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }
  [[nodiscard]] std::size_t checked() const { return checked_; }
  [[nodiscard]] std::size_t different() const { return different_; }
  [[nodiscard]] const Loads& loads() const { return loads_; }

 private:
  static constexpr double timed_seconds = 2e-4;  // shorter than the time between two interrupts
  static constexpr double least_loads = 256;
  static constexpr int pairs = 5;  // of which the median counts: most meet none

  struct Walk {
    double ticks = 0;
    double seconds = 0;
  };

  [[nodiscard]] Slot* slot(std::uint64_t step) const {
    const std::uint64_t index = cycle_.slot_at(step);
    return static_cast<Slot*>(static_cast<void*>(room_ + host_offset(index, stride_)));
  }

  Observation observe_pair() {
    const Walk brief = walk(loads_.brief);
    const Walk full = walk(loads_.full);
    const double inside = (full.ticks - brief.ticks) / loads_.slope();
    const double seconds = (full.seconds - brief.seconds) / loads_.slope();
    return {.inside = inside,
            .slowest = inside,
            .outside = seconds * tsc_hertz(),
            .seconds = seconds,
            .core_hertz = full.ticks / full.seconds};
  }

  Walk walk(std::uint64_t loads) {
    const Slot* const begin = slot(position_);
    position_ = (position_ + loads) % cycle_.slots();
    const double began = monotonic_raw_seconds();
    const std::uint64_t start = tsc_now();
    const Slot* const end = follow(begin, loads);
    const std::uint64_t stop = tsc_now();
    const double ended = monotonic_raw_seconds();
    ++checked_;
    if (end != slot(position_)) ++different_;
    return {.ticks = static_cast<double>(stop - start), .seconds = ended - began};
  }

  std::byte* room_;
  std::uint64_t stride_;
  PermutedCycle cycle_;
  std::uint64_t position_ = 0;
  Loads loads_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const auto footprint = static_cast<std::uint64_t>(session.whole("footprint"));
  const auto stride = static_cast<std::uint64_t>(session.whole("stride"));
  const auto memory = facts.find("memory_bytes");
  constexpr std::uint64_t part = 4;
  if (memory != facts.end() &&
      footprint > static_cast<std::uint64_t>(std::get<std::int64_t>(memory->second)) / part) {
    throw Skipped{"a chain in more than a quarter of the memory"};
  }
  const bool huge = session.param("allocation") == huge_pages;
  const Pin pin{allowed_cpus().front()};
  Room& room = session.cache().keep<Room>("tlb/" + session.param("allocation"),
                                          [huge] { return Room{huge}; });
  Chase chase{room.data(), footprint / stride, stride};
  room.verify(footprint);
  const auto seen = collect(chase, session.plan());
  room.verify(footprint);
  pointer_chase::report(session, seen, 1,
                        {.unit = "tsc_cycle",
                         .inside = "tsc_slope",
                         .outside = "monotonic_slope",
                         .clock = "tsc_over_monotonic"});
  session.add(result_gate(chase.checked(), chase.different(), "chain ends against the cycle"));
  session.add(level_unverified("no hardware counters on the host"));
  session.fact("loads", static_cast<std::int64_t>(chase.loads().full));
  session.fact("page_bytes", static_cast<std::int64_t>(huge ? huge_page : small_page));
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::tlb
