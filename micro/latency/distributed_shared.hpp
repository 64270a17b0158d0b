// What does it cost to read the shared memory of another SM of the cluster?
//
// `latency`: one thread follows a random chain of words in the shared memory of the block that is
// `distance` ranks further on in its cluster (0: in its own, with the same instruction). Each load
// takes its address from the one before it; words are addresses, so the time contains nothing else.
// `bandwidth`: in as many clusters as fit, one block per SM, every block reads the memory of the
// block `distance` ranks further on, 16 bytes a lane, with four loads of each thread in flight.
// Blocks of adjacent ranks are often on the two SMs of one TPC.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/word_patterns.hpp"

#include <cstdint>
#include <vector>

namespace strata::distributed_shared {

[[nodiscard]] Benchmark declare();

enum class Measure { latency, bandwidth };
inline constexpr auto measures = choices_of<Measure>("latency", "bandwidth");

/// Values of the axes.
struct Shape {
  Measure measure = Measure::latency;
  std::uint32_t cluster = 2;   ///< blocks
  std::uint32_t distance = 1;  ///< in ranks
  std::uint32_t warps = 1;     ///< of a block
};
[[nodiscard]] Shape shape_of(const Params& params);

inline constexpr std::uint32_t lanes = 32;
inline constexpr std::uint32_t width = 16;                       ///< bytes of an access of a lane
inline constexpr std::uint32_t flights = 4;                      ///< accesses of a thread in flight
inline constexpr std::uint32_t chunk = flights * lanes * width;  ///< bytes of a warp per round
inline constexpr std::uint32_t tile_bytes = 65536;               ///< that each block holds
inline constexpr std::uint32_t tile_words = tile_bytes / sizeof(std::uint32_t);

/// Contents of the block of that rank; all words of a cluster differ.
[[nodiscard]] STRATA_HD constexpr LinearWords tile_of(std::uint32_t rank) {
  constexpr LinearWords all;
  return {all.slope, all.word(std::uint64_t{rank} * tile_words)};
}
/// The sum of the block of that rank. Its warps are side by side and repeatedly traverse the tile.
[[nodiscard]] std::uint32_t expected_sum(const Shape& shape, std::uint32_t rank,
                                         std::uint32_t rounds);

/// The chain: slots in random order.
inline constexpr std::uint32_t slots = 512;
inline constexpr std::uint32_t long_loads = 3200;  ///< a short launch has a fifth
inline constexpr std::uint32_t unroll = 16;

struct Ring {
  Ring();
  /// The slot after `loads` loads.
  [[nodiscard]] std::uint32_t after(std::uint32_t loads) const { return order[loads % slots]; }
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> next;  ///< of each slot
};

/// The case as the engine measures it on that many blocks, except its launches. Per load of the one
/// thread, or per byte read by each block. `ring` must outlive the experiment.
[[nodiscard]] Experiment describe(const Shape& shape, const Ring& ring, unsigned blocks);

}  // namespace strata::distributed_shared
