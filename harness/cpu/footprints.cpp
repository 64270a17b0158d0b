#include "harness/cpu/footprints.hpp"

#include "harness/base/error.hpp"
#include "harness/cpu/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

namespace strata {
namespace {

// If the replacement policy were random, an array of twice the cache would find a fifth of its
// lines there, one of four times the cache a fiftieth.
constexpr std::uint64_t times_last_level = 4;

std::string text_of(std::uint64_t bytes) {
  return size_text(static_cast<std::int64_t>(bytes));
}

/// From `least` to three quarters of the `owned` part of the level, because page placement and
/// other data take some of it.
Footprint within(HostLevel level, std::uint64_t least, std::uint64_t best, std::uint64_t owned) {
  const std::uint64_t most = owned / 4 * 3;
  if (least > most) {
    const auto number = static_cast<int>(level) + 1;
    throw Skipped{fmt::format("L{} cannot be isolated: its part of {} is too small beside L{}",
                              number, text_of(owned), number - 1)};
  }
  return {.least = least, .best = std::clamp(best, least, most), .most = most};
}

/// The fewest cores that share one of the caches, at least: all others are shared by the most.
std::uint64_t fewest(const CpuFacts::Sharing& sharing, std::uint64_t cores) {
  const std::uint64_t others = sharing.most * (sharing.caches - 1);
  return others < cores ? cores - others : 1;
}

/// The largest part of the caches that a core may have.
std::uint64_t cached_by_a_core(const CpuFacts& cpu) {
  const std::uint64_t l2 = need(cpu.l2_bytes, "l2_bytes") / fewest(cpu.l2, cpu.cores);
  if (!cpu.l3_bytes) return l2 + cpu.l1_bytes.value_or(0);
  return l2 + *cpu.l3_bytes / fewest(cpu.l3, cpu.cores);
}

/// Beyond the caches of all cores together, in bytes of one core.
Footprint beyond_caches(const CpuFacts& cpu) {
  const std::uint64_t least = times_last_level * cached_by_a_core(cpu);
  (void)need(cpu.memory_bytes, "memory_bytes");
  require_quarter_of_memory(cpu, least * cpu.cores, "4 times the cache");
  return {.least = least, .best = least, .most = *cpu.memory_bytes / 4 / cpu.cores};
}

}  // namespace

Footprint own_footprint(HostLevel level, const CpuFacts& cpu) {
  if (level == HostLevel::dram) return beyond_caches(cpu);
  // While a sibling waits, a core has all of a shared cache.
  const auto beyond = [](std::uint64_t bytes, const CpuFacts::Sharing& sharing) {
    return bytes + bytes / sharing.most;
  };
  const std::uint64_t l1 =
      level == HostLevel::l1 ? need(cpu.l1_bytes, "l1d_bytes") : cpu.l1_bytes.value_or(0);
  if (level == HostLevel::l1) return within(level, 0, l1 / cpu.l1.most / 2, l1 / cpu.l1.most);
  const std::uint64_t l2 = need(cpu.l2_bytes, "l2_bytes");
  if (level == HostLevel::l2) {
    const std::uint64_t owned = l2 / cpu.l2.most;
    return within(level, beyond(l1, cpu.l1), owned / 2, owned);
  }
  const std::uint64_t owned = need(cpu.l3_bytes, "l3_bytes") / cpu.l3.most;
  return within(level, beyond(l2, cpu.l2), std::min(owned / 4, 4 * l2), owned);
}

Footprint common_footprint(HostLevel level, const CpuFacts& cpu) {
  if (level == HostLevel::dram) {
    const Footprint each = beyond_caches(cpu);
    const std::uint64_t most = each.most * cpu.cores;
    const std::uint64_t least = each.least * cpu.cores;
    return {.least = least, .best = std::min(2 * least, most), .most = most};
  }
  // What one core of a shared cache has read, the next one finds there: each cache must be too
  // small for its part of the array.
  const auto beyond = [](std::uint64_t bytes, const CpuFacts::Sharing& sharing) {
    return 2 * bytes * (sharing.most > 1 ? sharing.caches : 1);
  };
  const std::uint64_t l1 =
      level == HostLevel::l1 ? need(cpu.l1_bytes, "l1d_bytes") : cpu.l1_bytes.value_or(0);
  if (level == HostLevel::l1) return within(level, 0, l1 / 2, l1);
  const std::uint64_t l2 = need(cpu.l2_bytes, "l2_bytes");
  if (level == HostLevel::l2) return within(level, beyond(l1, cpu.l1), l2 / 2, l2);
  const std::uint64_t l3 = need(cpu.l3_bytes, "l3_bytes");
  return within(level, beyond(l2, cpu.l2), l3 / 4, l3);
}

std::uint64_t power_of_two_in(const Footprint& footprint) {
  const std::uint64_t below = std::bit_floor(footprint.best);
  if (below >= footprint.least) return below;
  if (2 * below <= footprint.most) return 2 * below;
  throw Skipped{fmt::format("no power of two between {} and {}", text_of(footprint.least),
                            text_of(footprint.most))};
}

CpuFacts alone(CpuFacts cpu) {
  cpu.cores = 1;
  cpu.l1 = cpu.l2 = cpu.l3 = {};
  return cpu;
}

void require_quarter_of_memory(const CpuFacts& cpu, std::uint64_t bytes, const char* what) {
  if (cpu.memory_bytes && bytes > *cpu.memory_bytes / 4)
    throw Skipped{fmt::format("too little memory for {}", what)};
}

}  // namespace strata
