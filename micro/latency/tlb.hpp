// How much memory do a device's cached address translations cover, and what does a load cost whose
// translation misses?
//
// One thread follows a chain with one word in each page-sized slot, in random order. On a GPU the
// words bypass L1 and all their lines stay in L2, spread over its sets: only the translation
// changes with the footprint. On a CPU the same positions are visited in pages of 4 KiB and of 2
// MiB.
#pragma once

#include "harness/case/benchmark.hpp"
#include "micro/latency/pointer_chase.hpp"

#include <cstdint>
#include <string_view>

namespace strata::tlb {

[[nodiscard]] Benchmark declare();

inline constexpr std::uint64_t least_footprint = std::uint64_t{16} << 20U;
inline constexpr std::uint64_t most_footprint = std::uint64_t{128} << 30U;
/// On the host, whose chains allocate their own memory.
inline constexpr std::uint64_t least_host_footprint = std::uint64_t{64} << 10U;
inline constexpr std::uint64_t most_host_footprint = std::uint64_t{256} << 20U;
inline constexpr std::string_view small_pages = "small_pages";
inline constexpr std::string_view huge_pages = "huge_pages";

/// Byte of slot `index`'s word on the host: spread over the sets of L1, of L2 where pages are huge.
[[nodiscard]] constexpr std::uint64_t host_offset(std::uint64_t index, std::uint64_t stride) {
  constexpr std::uint64_t line = 64;
  constexpr std::uint64_t lines_of_page = 64;
  return index * stride + (index + index / lines_of_page) * line % stride;
}

/// The whole chain if it is short; for a longer one, the pages were visited before.
[[nodiscard]] std::uint32_t warm_loads_for(std::uint64_t slots);

/// A chase on a GPU, after every page was visited.
[[nodiscard]] Experiment describe(pointer_chase::Chase& chase);

}  // namespace strata::tlb
