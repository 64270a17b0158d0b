// The host backend of tlb: tlb.hpp says what it asks.
//
// One core follows a chain with one word in each slot, in random order, first through pages of
// 4 KiB, then through the same places in pages of 2 MiB: caches see the same lines, so that what
// differs is the translation. Which pages the system gave is read in /proc/self/smaps. Nobody tells
// what is below them in a virtual machine: where its memory lies in pages of 4 KiB, the CPU keeps
// translations of 4 KiB whatever the system gave, and both curves bend at one place; where the
// hypervisor keeps the tables (shadow paging), a miss may be its business and take microseconds.
#include "harness/case/error.hpp"
#include "harness/cpu/pin.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/record/gates.hpp"
#include "micro/latency/pointer_chase_host.hpp"
#include "micro/latency/tlb.hpp"
#include "micro/pattern/permuted_cycle.hpp"

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

namespace strata::tlb {
namespace {

constexpr std::uint64_t small_page = 4096;
constexpr std::uint64_t huge_page = std::uint64_t{2} << 20U;

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

/// Slots in lines of their own, so that they do not share sets of a cache.
struct Places {
  std::byte* room = nullptr;
  PermutedCycle cycle;
  std::uint64_t stride = 0;

  [[nodiscard]] std::byte* operator()(std::uint64_t step) const {
    return room + host_offset(cycle.slot_at(step), stride);
  }
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
  pointer_chase::HostChase chase{
      Places{.room = room.data(), .cycle = {footprint / stride, /*seed=*/2009}, .stride = stride}};
  // What can be kept is kept from one lap on.
  (void)chase.walk(pointer_chase::in_whole_turns(chase.slots()));
  constexpr std::uint32_t pilot_loads = 512;
  // A hypervisor that keeps the tables itself may take microseconds for one translation.
  constexpr double least_loads = 256;
  chase.size_walks(pilot_loads, least_loads);
  room.verify(footprint);
  const auto seen = collect(chase, session.plan());
  room.verify(footprint);
  pointer_chase::report(session, seen, 1, pointer_chase::host_timers);
  session.add(chase.result());
  session.add(level_unverified("no hardware counters on the host"));
  session.fact("loads", static_cast<std::int64_t>(chase.loads().full));
  session.fact("page_bytes", static_cast<std::int64_t>(huge ? huge_page : small_page));
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::tlb
