// On the host the caches see the same lines in pages of both sizes; only the translation differs.
// Under a hypervisor that maps its memory in pages of 4 KiB the CPU caches translations of that
// size, whatever the guest uses, and both curves bend at the same place. With shadow paging the
// hypervisor may handle a miss itself, in microseconds.
#include "micro/latency/tlb.hpp"

#include "harness/base/error.hpp"
#include "harness/case/choices.hpp"
#include "harness/case/octaves.hpp"
#include "harness/cpu/topology.hpp"
#include "micro/latency/pointer_chase_host.hpp"
#include "micro/pattern/permuted_cycle.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <fstream>

namespace strata::tlb {
namespace {

constexpr std::uint64_t small_page = 4096;
constexpr std::uint64_t huge_page = std::uint64_t{2} << 20U;

std::vector<std::string> default_footprints() {
  auto all = octaves(least_host_footprint, least_footprint - small_page, 4, small_page);
  const auto longer = octaves(least_footprint, most_footprint, 8, huge_page);
  all.insert(all.end(), longer.begin(), longer.end());
  return texts_of(all);
}

std::optional<std::string> excluded(const Params& params, Backend backend) {
  const auto footprint = number_of<std::uint64_t>(params, "footprint");
  const auto stride = number_of<std::uint64_t>(params, "stride");
  if (footprint % stride != 0 || footprint < 2 * stride) {
    return "the footprint is not a multiple of the stride, or has fewer than two slots";
  }
  const std::string& allocation = params.at("allocation");
  const bool of_host = allocation == small_pages || allocation == huge_pages;
  if (of_host != (backend == Backend::host)) return "a GPU and a CPU have different pages";
  if (backend == Backend::host) {
    if (stride != small_page && (allocation != huge_pages || stride != huge_page)) {
      return "on a CPU chains visit each page of 4 KiB, or each of 2 MiB";
    }
    // Four times as many pages as a core's TLB holds today.
    constexpr std::uint64_t most_slots = 1U << 13U;
    if (footprint > most_host_footprint || footprint / stride > most_slots) {
      return "writing the chain on a CPU would take too long";
    }
    return std::nullopt;
  }
  if (stride == small_page || footprint < least_footprint) return "less than a GPU's page";
  // 32 MiB of lines: at most the half of a large L2 that is next to an SM.
  constexpr std::uint64_t most_slots = 1U << 18U;
  if (footprint / stride > most_slots) return "L2 would not hold a line of each slot";
  return std::nullopt;
}

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

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "tlb",
      .question =
          "How much memory do the cached address translations cover, and what does a miss cost?",
      .axes = {listed_axis("allocation",
                           "allocation of the memory: cudaMalloc, or cuMemCreate and explicit "
                           "mapping; on the host pages of 4 KiB or of 2 MiB",
                           {"malloc", "vmm", std::string{small_pages}, std::string{huge_pages}}),
               listed_axis("stride", "bytes from slot to slot, one load in each",
                           {"4096", "65536", "2097152", "4194304", "33554432"},
                           {"4096", "2097152"}),
               number_axis("footprint", "footprint of the chain in bytes", least_host_footprint,
                           most_footprint, default_footprints())},
      .data_axes = 1,
      .quantities =
          {{"load_cycles",
            "cycles of one dependent load from L2 (host: from the caches), including translation"},
           {"load_time", "the same in seconds"},
           {"core_clock", "clock of the core during the reads"}},
      .seconds_per_case = 0.015,
      .excludes = excluded};
}

std::uint32_t warm_loads_for(std::uint64_t slots) {
  constexpr std::uint32_t few = 64;
  constexpr std::uint32_t most = 2048;  // a walk of a million cycles
  return std::clamp(pointer_chase::in_whole_turns(slots), few, most);
}

Experiment describe(pointer_chase::Chase& chase) {
  Experiment experiment = pointer_chase::describe(chase, {});
  experiment.unproved = {.gate = "level"};
  experiment.counts = pointer_chase::counts_of(chase, /*loads=*/2048);
  experiment.counts->served_by = ServedBy::l2;
  experiment.counts->memory_is_no_proof = true;
  return experiment;
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace strata::tlb
