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

#include "harness/base/in_parallel.hpp"
#include "harness/cuda/benchmark.cuh"
#include "harness/model/layout.hpp"
#include "micro/access/sample_places.hpp"

#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>

namespace strata::stride_gather {

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

/// Contents of the array.
inline constexpr LinearWords array_words{};

constexpr std::uint32_t max_stride = 1024;

constexpr auto levels = choices_of<Level>("l2", "l3", "dram");
constexpr auto patterns = choices_of<Pattern>("strided", "misaligned", "gather");

inline Shape shape_of(const Params& params) {
  return {.level = levels.of(params.at("level")),
          .pattern = patterns.of(params.at("pattern")),
          .width = number_of<std::uint32_t>(params, "width"),
          .stride = number_of<std::uint32_t>(params, "stride"),
          .misalignment = number_of<std::uint32_t>(params, "misalignment"),
          .locality = number_of<std::uint32_t>(params, "locality")};
}

inline std::optional<std::string> excluded(const Params& params, Backend backend) {
  const Shape shape = shape_of(params);
  const bool misaligned = shape.misalignment != 0;
  if (shape.pattern != Pattern::strided && shape.stride != 1) return "only strided has a stride";
  if (misaligned != (shape.pattern == Pattern::misaligned)) {
    return "only misaligned has a misalignment";
  }
  if (shape.pattern != Pattern::gather && shape.locality != lanes) {
    return "only gather has a locality";
  }
  const bool gpu = backend == Backend::cuda;
  if (gpu && shape.level == Level::l3) return "a GPU has no L3";
  if (!gpu && shape.width != 4) return "a CPU reads 4-byte words here";
  if (!gpu && misaligned) return "a word of a CPU never crosses a line";
  return std::nullopt;
}

inline Benchmark declare() {
  std::vector<std::string> localities;
  for (std::uint32_t one = lanes; one <= 1U << 30U; one *= 2)
    localities.push_back(std::to_string(one));
  return {
      .suite = "micro",
      .name = "stride_gather",
      .question =
          "How much of a level's bandwidth remains for strided, misaligned or scattered accesses?",
      .axes = {levels.axis("level", "memory level of the data (l3: CPU only)"),
               patterns.axis("pattern", "strided, misaligned or random order of the elements"),
               listed_axis("width", "bytes of an element (host: always 4)", {"4", "8", "16"},
                           {"4", "16"}),
               number_axis("stride", "strided: elements from one to the next (otherwise 1)", 1,
                           max_stride, {"1", "2", "4", "8", "16", "32", "64"}),
               number_axis("misalignment",
                           "misaligned: elements from a line's start to the first (otherwise 0)", 0,
                           max_misalignment, {"0", "1", "4", "8"}),
               listed_axis(
                   "locality",
                   "gather: size of the window from which a load picks its elements (otherwise 32)",
                   localities,
                   {"32", "128", "512", "4096", "32768", "1048576", "16777216", "268435456"})},
      .quantities =
          {{"useful_bandwidth", "wanted bytes per second, start-up cancelled"},
           {"useful_bandwidth_per_sm",
            "wanted bytes per cycle of an SM (host: of a core), by each timer"},
           {"requested_bandwidth",
            "traffic from L1 to L2, not memory bandwidth: bytes of the sectors that loads "
            "request from L2 per second, by the model. Memory delivers less where L2 holds "
            "a sector from an earlier load, so this may exceed its pins"},
           {"requested_sectors",
            "gather: the same in sectors per second. In the largest window, few are in L2: random "
            "sectors that memory delivers"},
           {"grid_time", "duration of the whole long launch, including start-up"},
           {"core_clock", "clock of the core during the loads"},
           {"sectors_per_request", "per warp-load, counted and modelled"},
           {"memory_bytes_per_used_byte", "bytes read from memory per wanted byte"}},
      .seconds_per_case = 0.03,
      .excludes = excluded};
}

}  // namespace strata::stride_gather
