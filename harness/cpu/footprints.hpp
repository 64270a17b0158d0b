// How much memory the cores of a CPU visit so that one level serves them: arithmetic on the facts
// of the device. Host only.
#pragma once

#include "harness/case/choices.hpp"
#include "harness/record/device_facts.hpp"

#include <cstdint>

namespace strata {

enum class HostLevel : std::uint8_t { l1, l2, l3, dram };
inline constexpr auto host_levels = choices_of<HostLevel>("l1", "l2", "l3", "dram");

/// Bytes of an array that the level serves: any number from `least` to `most`, preferably `best`.
struct Footprint {
  std::uint64_t least = 0;
  std::uint64_t best = 0;
  std::uint64_t most = 0;
};

/// For arrays of which each core visits its own, over and over. Throws Skipped if the caches of the
/// cores cannot isolate the level, if the memory is too small, or if the system does not report a
/// size.
[[nodiscard]] Footprint own_footprint(HostLevel level, const CpuFacts& cpu);

/// The same for one array that all cores visit, each of them from another place on. A core is
/// followed by the next one, so what it reads is what a neighbour has just read.
[[nodiscard]] Footprint common_footprint(HostLevel level, const CpuFacts& cpu);

/// A power of two within the footprint. Throws Skipped if there is none.
[[nodiscard]] std::uint64_t power_of_two_in(const Footprint& footprint);

/// The facts of one core that works alone.
[[nodiscard]] CpuFacts alone(CpuFacts cpu);

/// Throws Skipped if `bytes` would take more than a quarter of the memory; unknown memory suffices.
/// `what`: "4 times the cache".
void require_quarter_of_memory(const CpuFacts& cpu, std::uint64_t bytes, const char* what);

}  // namespace strata
