// One core follows a chain with one word in each slot, in random order, first through pages of 4
// KiB, then through the same places in pages of 2 MiB: the caches see the same lines, so that only
// the translation differs. /proc/self/smaps tells which pages the system gave. In a virtual machine
// the pages below are unknown: where the hypervisor maps its memory in pages of 4 KiB, the CPU
// caches translations of 4 KiB whatever the guest has, and both curves bend at one place; where the
// hypervisor maintains the page tables (shadow paging), it may handle a miss itself, in
// microseconds.
#include "harness/case/error.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "harness/record/device_facts.hpp"
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

void run(Session& session) {
  const auto footprint = static_cast<std::uint64_t>(session.whole("footprint"));
  const auto stride = static_cast<std::uint64_t>(session.whole("stride"));
  const auto memory = cpu_facts(session.device().identity().facts).memory_bytes;
  if (memory && footprint > *memory / 4) {
    throw Skipped{"a chain in more than a quarter of the memory"};
  }
  const bool huge = session.param("allocation") == huge_pages;
  HostMachine machine{allowed_cpus().front()};
  Room& room = session.cache().keep<Room>("tlb/" + session.param("allocation"),
                                          [huge] { return Room{huge}; });
  const PermutedCycle cycle{footprint / stride, /*seed=*/2009};
  const auto base = std::bit_cast<std::uintptr_t>(room.data());
  const auto address_at = [&](std::uint64_t step) {
    return base + host_offset(cycle.slot_at(step), stride);
  };
  pointer_chase::write_links(cycle.slots(), address_at);
  pointer_chase::Chase chase{.word_at = address_at, .walks = {cycle.slots(), cycle.slots(), 1}};
  // A hypervisor that keeps the tables itself may take microseconds for one translation.
  Experiment experiment =
      pointer_chase::describe_on(machine, chase, {.pilot = 512, .least_loads = 256});
  // What can be kept is kept from one lap on.
  const auto lap = static_cast<std::uint32_t>(pointer_chase::in_whole_turns(cycle.slots()));
  (void)launch_once(machine, experiment.slopes[0], {.length = {.rounds = lap}}, experiment.tally);
  room.verify(footprint);
  session.fact("page_bytes", static_cast<std::int64_t>(huge ? huge_page : small_page));
  measure(session, machine, experiment);
  room.verify(footprint);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::tlb
