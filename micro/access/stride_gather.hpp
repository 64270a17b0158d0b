// What share of a level's bandwidth is left for the wanted bytes if they are strided, misaligned or
// scattered?
//
// All SMs read data that are in L2, or only in memory, one warp-load of 32 elements after another.
// Lane n mod 32 of load n ÷ 32 reads element n of a pass, which is
//   strided     element n × stride of the array;
//   misaligned  element n + misalignment: adjacent loads share a sector, but no whole line;
//   gather      one of the `locality` elements of window n ÷ locality, each once, in a
//               pseudo-random order. Computing it takes eight integer instructions a load; the
//               comparison of a locality of 32 with a stride of 1 shows their cost.
// Loads bypass L1 (ld.global.cg), so each requests from L2 every sector that it touches. Data in L2
// are divided into one piece per block; the block is resident and reads its piece repeatedly. Data
// in memory are read by many more blocks than are resident at once, each piece once. L2 merges
// requests of one GPC for the same sector that arrive at about the same time (request_merging), so
// the loads of a window are distributed over warps far apart, and the loads that a warp has in
// flight belong to different windows.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/layout.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/access/sample_places.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace strata::stride_gather {

[[nodiscard]] Benchmark declare();

enum class Level : std::uint8_t { l2, l3, dram };
enum class Pattern : std::uint8_t { strided, misaligned, gather };

inline constexpr std::uint32_t lanes = 32;
inline constexpr std::uint32_t max_misalignment = 1024;

/// Values of the axes. Lengths are in elements.
struct Shape {
  Level level = Level::dram;
  Pattern pattern = Pattern::strided;
  std::uint32_t width = 4;  ///< bytes of an element
  std::uint32_t stride = 1;
  std::uint32_t misalignment = 0;
  std::uint32_t locality = lanes;  ///< a power of two

  [[nodiscard]] constexpr std::uint32_t words() const { return width / 4; }
  /// Bytes of the array from which one load takes its elements.
  [[nodiscard]] constexpr std::uint64_t load_span() const {
    return std::uint64_t{lanes} * stride * width;
  }
  [[nodiscard]] constexpr std::uint32_t load_bytes() const { return lanes * width; }
  /// Loads of a window; in a pattern without windows all loads are alike.
  [[nodiscard]] constexpr std::uint32_t window_loads() const { return locality / lanes; }
};
[[nodiscard]] Shape shape_of(const Params& params);

/// A permutation of each aligned window of 2^k numbers, the same in all windows. A multiplication
/// by an odd number and a shift of the upper half of the bits onto the lower half are both
/// invertible.
struct Scatter {
  std::uint32_t mask = lanes - 1;  ///< 2^k - 1
  std::uint32_t shift = 3;         ///< half of the bits, rounded up
};
[[nodiscard]] constexpr Scatter scatter_of(std::uint32_t locality) {
  return {.mask = locality - 1, .shift = static_cast<std::uint32_t>(std::bit_width(locality)) / 2};
}
STRATA_HD constexpr std::uint32_t scattered(std::uint32_t n, std::uint32_t mask,
                                            std::uint32_t shift) {
  std::uint32_t low = n & mask;
  low = ((low ^ (low >> shift)) * 0x9E3779B1U) & mask;
  low = (low ^ (low >> shift)) * 0x85EBCA6BU;
  return (n & ~mask) | (low & mask);
}
/// The array index of element `n` of a pass.
[[nodiscard]] constexpr std::uint64_t element_of(const Shape& shape, std::uint32_t n) {
  if (shape.pattern != Pattern::gather) {
    return std::uint64_t{n} * shape.stride + shape.misalignment;
  }
  const Scatter scatter = scatter_of(shape.locality);
  return scattered(n, scatter.mask, scatter.shift);
}

/// Threads of a block, and one-element loads that each has in flight.
inline constexpr std::uint32_t threads = 128;
inline constexpr std::uint32_t most_blocks_per_sm = 16;
[[nodiscard]] constexpr std::uint32_t flights_of(std::uint32_t width) {
  return width == 4 ? 8 : 4;
}
/// Loads that a block has in flight at once.
[[nodiscard]] constexpr std::uint32_t loads_of_round(std::uint32_t width) {
  return threads / lanes * flights_of(width);
}

/// The loads of each warp of a launch. Ordinals count the elements of a pass.
struct AddressPattern {
  std::uint32_t group = 1;        ///< blocks over whose warps the loads of a group are distributed
  std::uint32_t multiplier = 1;   ///< coprime to the warps of a group; orders them
  std::uint32_t group_step = 0;   ///< ordinals from one group to the next,
  std::uint32_t warp_step = 0;    ///< from one warp to the next in that order,
  std::uint32_t flight_step = 0;  ///< from one load to the next of those in flight together,
  std::uint32_t round_step = 0;   ///< from one round to the next,
  std::uint32_t lap = 0;          ///< and the number after which a warp starts again

  /// The first ordinal of a warp of the block that takes piece `piece`.
  [[nodiscard]] STRATA_HD constexpr std::uint32_t first(std::uint32_t piece,
                                                        std::uint32_t warp) const {
    constexpr std::uint32_t warps = threads / lanes;
    const std::uint32_t rank = (piece % group * warps + warp) * multiplier % (group * warps);
    return piece / group * group_step + rank * warp_step;
  }
};

/// Bytes of device memory for the data of all cases.
[[nodiscard]] inline std::uint64_t pool_bytes(const GpuFacts& gpu) {
  return std::min(std::uint64_t{4} << 30U, std::bit_floor(gpu.memory_bytes / 4));
}

/// Everything about a case on a GPU that is decided in advance. Launches differ in rounds if data
/// are in L2, in blocks if they are in memory; their work is the wanted bytes of an SM.
struct SweepPlan {
  Shape shape;
  std::uint32_t sms = 0;
  std::uint32_t loads_of_block = 0;  ///< in its piece of a pass: whole rounds
  std::uint32_t blocks_per_sm = 0;   ///< resident
  Length pass = {};                  ///< each element once
  Lengths lengths = {};
  AddressPattern pattern = {};

  /// Warp-loads of a launch.
  [[nodiscard]] std::uint64_t loads(const Length& length) const {
    return std::uint64_t{length.blocks} * length.rounds * loads_of_round(shape.width);
  }
  /// The distinct ones, from the first of the array, and how often each is made.
  [[nodiscard]] std::uint64_t distinct_loads(const Length& length) const {
    return std::uint64_t{length.blocks} * loads_of_block;
  }
  [[nodiscard]] std::uint64_t laps(const Length& length) const {
    return loads(length) / distinct_loads(length);
  }
  /// Bytes from the first to the last that a launch may touch.
  [[nodiscard]] std::uint64_t span(const Length& length) const {
    return distinct_loads(length) * shape.load_span() +
           std::uint64_t{shape.misalignment} * shape.width;
  }
};
/// `resident`: blocks of the kernel that fit on an SM. Throws Skipped if the device cannot hold the
/// data, or no window of that locality fits.
[[nodiscard]] SweepPlan plan_for(const Shape& shape, const GpuFacts& gpu, std::uint32_t resident);

/// Sectors of the first `loads` warp-loads of a pass, by the rules of compute capability 7.0 and
/// later: as counted per load, and the number of distinct ones.
struct Sectors {
  std::uint64_t requested = 0;
  std::uint64_t distinct = 0;
  std::uint64_t fetched = 0;  ///< by an L2 that fetches `fetched_at_once` at a time, aligned
};
[[nodiscard]] Sectors sectors_of(const Shape& shape, std::uint64_t loads,
                                 std::uint64_t fetched_at_once = 1);
/// Average sectors of a warp-load, over a window, or the beginning of a very large one.
[[nodiscard]] double sectors_per_load(const Shape& shape);

/// Contents of the array.
inline constexpr LinearWords array_words{};
/// The sum of the first `loads` warp-loads of a pass: of each element times 2 × lane + 1.
[[nodiscard]] std::uint32_t sum_of_loads(const Shape& shape, std::uint64_t loads);
/// Added to the sum of that many warp-loads if the data begin `words` words further on.
[[nodiscard]] constexpr std::uint32_t sum_of_move(const Shape& shape, std::uint64_t loads,
                                                  std::uint64_t words) {
  constexpr std::uint32_t weight_of_load = lanes * lanes;  // 1 + 3 + 5 + …
  return static_cast<std::uint32_t>(loads) * weight_of_load * shape.words() *
         static_cast<std::uint32_t>(words) * array_words.slope;
}

/// The case on a GPU, except the launch. `places` gives the start of the data when a launch is
/// verified.
[[nodiscard]] Experiment describe(const SweepPlan& plan, const SamplePlaces& places);
/// Its counts. Separate, because the sectors of a large window take the host a while.
[[nodiscard]] CountPlan counts_of(const SweepPlan& plan, const GpuFacts& gpu);

}  // namespace strata::stride_gather
