// On the host the caches see the same lines in pages of both sizes; only the translation differs.
// Under a hypervisor that maps its memory in pages of 4 KiB the CPU caches translations of that
// size, whatever the guest uses, and both curves bend at the same place. With shadow paging the
// hypervisor may handle a miss itself, in microseconds.
#include "harness/cpu/topology.hpp"
#include "micro/latency/pointer_chase_host.hpp"
#include "micro/latency/tlb.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <fstream>

namespace strata::tlb {
namespace {

/// Address space for the longest chain, aligned to huge pages. Memory is allocated at the first
/// touch.
class Room {
 public:
  explicit Room(bool huge) : huge_{huge} {
    if (madvise(memory_.get(), bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) {
      throw Skipped{"the system does not let a program choose its page size"};
    }
  }
  [[nodiscard]] std::uintptr_t address() const {
    return std::bit_cast<std::uintptr_t>(memory_.get());
  }

  /// Throws Skipped unless the first `used` bytes, all of them touched, are in pages of the
  /// requested size.
  void verify(std::uint64_t used) {
    touched_ = std::max(touched_, (used + huge_page - 1) / huge_page * huge_page);
    const std::uint64_t in_huge = bytes_in_huge_pages();
    if (huge_ ? in_huge < touched_ : in_huge != 0) {
      throw Skipped{fmt::format("of {} bytes {} came in pages of 2 MiB", touched_, in_huge)};
    }
  }

 private:
  static constexpr std::size_t bytes = most_host_footprint;

  /// As the system counts them in the mappings that contain these addresses.
  [[nodiscard]] std::uint64_t bytes_in_huge_pages() const {
    std::ifstream in{"/proc/self/smaps"};
    if (!in) throw Skipped{"the system does not report which pages it used"};
    constexpr std::string_view counted = "AnonHugePages:";
    bool ours = false;
    std::uint64_t found = 0;
    for (std::string line; std::getline(in, line);) {
      const auto dash = line.find('-');
      if (dash != std::string::npos && line.find(':') > line.find(' ')) {
        const std::uintptr_t first = std::stoull(line.substr(0, dash), nullptr, /*base=*/16);
        const std::uintptr_t end = std::stoull(line.substr(dash + 1), nullptr, /*base=*/16);
        ours = first < address() + bytes && address() < end;
      } else if (ours && line.starts_with(counted)) {
        found += std::stoull(line.substr(counted.size())) * 1024;  // kB
      }
    }
    return found;
  }

  bool huge_;
  pointer_chase::HostMemory memory_ =
      pointer_chase::host_memory(bytes, std::align_val_t{huge_page});
  std::uint64_t touched_ = 0;
};

void run(Session& session) {
  const auto footprint = number_of<std::uint64_t>(session.params(), "footprint");
  const auto stride = number_of<std::uint64_t>(session.params(), "stride");
  require_quarter_of_memory(cpu_facts(session.device().identity().facts), footprint,
                            "a chain of this size");
  const bool huge = session.param("allocation") == huge_pages;
  HostMachine machine{allowed_cpus().front()};
  Room& room = session.cache().keep<Room>("tlb/" + session.param("allocation"),
                                          [huge] { return Room{huge}; });
  const PermutedCycle cycle{footprint / stride, /*seed=*/2009};
  const auto address_at = [&](std::uint64_t step) {
    return room.address() + host_offset(cycle.slot_at(step), stride);
  };
  pointer_chase::write_links(cycle.slots(), address_at);
  room.verify(footprint);
  session.fact("page_bytes", static_cast<std::int64_t>(huge ? huge_page : small_page));
  pointer_chase::measure_chain(session, machine, cycle.slots(), address_at, {.pilot = 512});
  room.verify(footprint);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::tlb
