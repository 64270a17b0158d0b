// Runs the body of a kernel on the host, thread by thread: on real bytes for its results, or
// without data for the addresses of its lanes, from which the sectors of a launch follow exactly.
//
// A body is a function of its memory and of its thread's position. Each access names its slot: the
// accesses of a warp's lanes in one slot are one instruction; lanes that skip it are inactive.
#pragma once

#include "harness/base/in_parallel.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/layout.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#if defined(__CUDA_ARCH__)
#define STRATA_UNROLLED _Pragma("unroll")
#else
#define STRATA_UNROLLED
#endif

namespace strata {

/// How a launch divides its columns and rows: into blocks of threads, each of which processes
/// several columns and rows.
struct Tiling {
  std::uint32_t block_x = 32;
  std::uint32_t block_y = 8;
  std::uint32_t columns = 1;  ///< of a thread
  std::uint32_t rows = 1;

  [[nodiscard]] STRATA_HD constexpr std::uint32_t threads() const { return block_x * block_y; }
  [[nodiscard]] constexpr std::uint32_t blocks_x(std::uint32_t width) const {
    return (width + block_x * columns - 1) / (block_x * columns);
  }
  [[nodiscard]] constexpr std::uint32_t blocks_y(std::uint32_t height) const {
    return (height + block_y * rows - 1) / (block_y * rows);
  }
};

/// Memory of a body that runs for its results.
class HostBytes {
 public:
  HostBytes(const std::uint8_t* from, std::uint8_t* to) : from_{from}, to_{to} {}

  template <unsigned bytes>
  void load(unsigned /*slot*/, std::uint32_t* words, std::uint64_t at) const {
    if constexpr (bytes < sizeof(std::uint32_t)) words[0] = 0;
    std::memcpy(words, from_ + at, bytes);
  }
  /// Several threads may store a byte at one place, which keeps the value of one of them.
  template <unsigned bytes>
  void store(unsigned /*slot*/, std::uint64_t at, const std::uint32_t* words) const {
    if constexpr (bytes == 1) {
      const std::atomic_ref<std::uint8_t> byte{to_[at]};
      byte.store(static_cast<std::uint8_t>(words[0]), std::memory_order_relaxed);
    } else {
      std::memcpy(to_ + at, words, bytes);
    }
  }

 private:
  const std::uint8_t* from_;
  std::uint8_t* to_;
};

/// Requests and sectors of a launch.
struct LaunchTraffic {
  std::uint64_t load_requests = 0;
  std::uint64_t load_sectors = 0;
  std::uint64_t store_requests = 0;
  std::uint64_t store_sectors = 0;

  LaunchTraffic& operator+=(const LaunchTraffic& other) {
    load_requests += other.load_requests;
    load_sectors += other.load_sectors;
    store_requests += other.store_requests;
    store_sectors += other.store_sectors;
    return *this;
  }
  bool operator==(const LaunchTraffic&) const = default;
};

/// Memory of a body that runs for its addresses: one warp after the other.
class LaneTrace {
 public:
  template <unsigned bytes>
  void load(unsigned slot, std::uint32_t* words, std::uint64_t at) {
    std::fill_n(words, bytes < 4 ? 1 : bytes / 4, 0U);
    note(loads_, slot, at);
  }
  template <unsigned bytes>
  void store(unsigned slot, std::uint64_t at, const std::uint32_t* /*words*/) {
    note(stores_, slot, at);
  }
  /// Returns the warp's requests and sectors, by the rules of compute capability 7.0 and later, and
  /// starts the next warp.
  [[nodiscard]] LaunchTraffic take_warp() {
    LaunchTraffic seen;
    take(loads_, seen.load_requests, seen.load_sectors);
    take(stores_, seen.store_requests, seen.store_sectors);
    sum_ += seen;
    return seen;
  }
  /// The sum over all warps taken.
  [[nodiscard]] const LaunchTraffic& sum() const { return sum_; }

 private:
  /// Sectors of the lanes of one instruction; no access spans two of them.
  struct Slot {
    std::size_t lanes = 0;
    std::array<std::uint64_t, warp_lanes> sectors{};
  };
  static void note(std::vector<Slot>& slots, unsigned slot, std::uint64_t at) {
    if (slot >= slots.size()) slots.resize(slot + 1);
    Slot& here = slots[slot];
    here.sectors.at(here.lanes++) = at / sector_bytes;
  }
  static void take(std::vector<Slot>& slots, std::uint64_t& requests, std::uint64_t& sectors) {
    for (Slot& slot : slots) {
      if (slot.lanes == 0) continue;
      auto* const begin = slot.sectors.data();
      auto* const end = begin + slot.lanes;
      if (!std::is_sorted(begin, end)) std::sort(begin, end);
      ++requests;
      sectors += static_cast<std::uint64_t>(std::unique(begin, end) - begin);
      slot.lanes = 0;
    }
  }

  std::vector<Slot> loads_;
  std::vector<Slot> stores_;
  LaunchTraffic sum_;
};

/// Calls body(memory, x, y) for every thread of a launch over `width` × `height`, in CUDA's order:
/// x and y are the thread's indices in the whole launch. One host thread runs all threads of a
/// warp. `memory()` makes the memory of a host thread; warp(memory) is called after each warp, and
/// done(memory) after the host thread's last one.
template <class MakeMemory, class Body, class Warp, class Done>
void for_each_warp(const Tiling& tiling, std::uint32_t width, std::uint32_t height,
                   const MakeMemory& memory, const Body& body, const Warp& warp, const Done& done) {
  const std::size_t across = tiling.blocks_x(width);
  const std::size_t blocks = across * tiling.blocks_y(height);
  constexpr std::size_t least_blocks = 64;
  in_parallel(
      blocks,
      [&](std::size_t first, std::size_t last) {
        auto mine = memory();
        for (std::size_t block = first; block < last; ++block) {
          const auto x = static_cast<std::uint32_t>(block % across) * tiling.block_x;
          const auto y = static_cast<std::uint32_t>(block / across) * tiling.block_y;
          for (std::uint32_t thread = 0; thread < tiling.threads(); ++thread) {
            body(mine, x + thread % tiling.block_x, y + thread / tiling.block_x);
            if (thread % warp_lanes == warp_lanes - 1 || thread + 1 == tiling.threads()) warp(mine);
          }
        }
        done(mine);
      },
      least_blocks);
}

/// Requests and sectors of a launch, summed over its warps. The body runs with all values 0.
template <class Body>
[[nodiscard]] LaunchTraffic traffic_of(const Tiling& tiling, std::uint32_t width,
                                       std::uint32_t height, const Body& body) {
  LaunchTraffic sum;
  std::mutex adding;
  for_each_warp(
      tiling, width, height, [] { return LaneTrace{}; }, body,
      [](LaneTrace& trace) { (void)trace.take_warp(); },
      [&](const LaneTrace& trace) {
        const std::scoped_lock lock{adding};
        sum += trace.sum();
      });
  return sum;
}

/// Runs a launch for its results.
template <class Body>
void run_on_host(const Tiling& tiling, std::uint32_t width, std::uint32_t height,
                 const HostBytes& memory, const Body& body) {
  for_each_warp(
      tiling, width, height, [&] { return memory; }, body, [](const HostBytes&) {},
      [](const HostBytes&) {});
}

}  // namespace strata
