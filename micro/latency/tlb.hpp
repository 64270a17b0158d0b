// How much memory do a device's cached address translations cover, and what does a load cost whose
// translation misses?
//
// One thread follows a chain with one word in each page-sized slot, in random order. On a GPU the
// words bypass L1 and all their lines stay in L2, spread over its sets: only the translation
// changes with the footprint. On a CPU the same positions are visited in pages of 4 KiB and of 2
// MiB.
#pragma once

#include "harness/case/octaves.hpp"
#include "harness/cuda/benchmark.cuh"
#include "micro/latency/pointer_chase.hpp"
#include "micro/pattern/permuted_cycle.hpp"

#include <string_view>

namespace strata::tlb {

inline constexpr std::uint64_t least_footprint = std::uint64_t{16} << 20U;
inline constexpr std::uint64_t most_footprint = std::uint64_t{128} << 30U;
/// On the host, whose chains allocate their own memory.
inline constexpr std::uint64_t least_host_footprint = std::uint64_t{64} << 10U;
inline constexpr std::uint64_t most_host_footprint = std::uint64_t{256} << 20U;
inline constexpr std::string_view small_pages = "small_pages";
inline constexpr std::string_view huge_pages = "huge_pages";

constexpr std::uint64_t small_page = 4096;
constexpr std::uint64_t huge_page = std::uint64_t{2} << 20U;

/// Byte of slot `index`'s word on the host: spread over the sets of L1, of L2 where pages are huge.
[[nodiscard]] constexpr std::uint64_t host_offset(std::uint64_t index, std::uint64_t stride) {
  constexpr std::uint64_t line = 64;
  constexpr std::uint64_t lines_of_page = 64;
  return index * stride + (index + index / lines_of_page) * line % stride;
}

inline std::vector<std::string> default_footprints() {
  auto all = octaves(least_host_footprint, least_footprint - small_page, 4, small_page);
  const auto longer = octaves(least_footprint, most_footprint, 8, huge_page);
  all.insert(all.end(), longer.begin(), longer.end());
  return texts_of(all);
}

inline std::optional<std::string> excluded(const Params& params, Backend backend) {
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

inline Benchmark declare() {
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

}  // namespace strata::tlb
