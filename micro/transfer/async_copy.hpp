// What does it cost to copy a tile into shared memory, with each method that the chip has?
//
// `registers`: threads load from global memory and store to shared memory, 16 bytes at a time.
// `cp_async_4`, `_8`, `_16`: threads copy without a register (cp.async, compute capability 8.0).
// `bulk`: one thread requests the whole tile from the SM's copy engine (cp.async.bulk, 9.0).
// `tensor`: the same by coordinates (cp.async.bulk.tensor, 9.0); a tile is one row, or several rows
// of 1 KiB. `distributed`: threads load from the shared memory of another block of their cluster
// and store to their own (ld.shared::cluster, 9.0).
//
// `latency`: one block copies one tile at a time, from the first instruction that requests it until
// all threads may read it. A word of each tile is needed to find the next, so nothing overlaps. The
// time includes the load of that word and the barriers that keep a tile from being overwritten
// while it is read. `bandwidth`: one block on every SM with several tiles in flight (for
// `registers` and `distributed` only as many as a thread has registers for), and a barrier for each
// tile.
//
// Loads bypass L1 where the instruction can (16 bytes). The other loads visit tiles in an order in
// which L1 holds nothing of the next tile.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/layout.hpp"
#include "harness/record/device_facts.hpp"

#include <cstdint>

namespace strata::async_copy {

[[nodiscard]] Benchmark declare();

enum class CopyMethod { registers, cp_async_4, cp_async_8, cp_async_16, bulk, distributed, tensor };
inline constexpr auto methods = choices_of<CopyMethod>(
    "registers", "cp_async_4", "cp_async_8", "cp_async_16", "bulk", "distributed", "tensor");
/// Bytes per thread and cp.async; 0 for other methods.
[[nodiscard]] constexpr std::uint32_t cp_async_width(CopyMethod method) {
  if (method == CopyMethod::cp_async_4) return 4;
  if (method == CopyMethod::cp_async_8) return 8;
  return method == CopyMethod::cp_async_16 ? 16 : 0;
}
/// Whether one thread requests and the copy engine copies.
[[nodiscard]] constexpr bool is_by_engine(CopyMethod method) {
  return method == CopyMethod::bulk || method == CopyMethod::tensor;
}
/// Required compute capability: 75, 80 or 90.
[[nodiscard]] constexpr int needs(CopyMethod method) {
  if (method == CopyMethod::registers) return 75;
  return cp_async_width(method) > 0 ? 80 : 90;
}
/// Throws Skipped if the chip, or this build's code for it, does not support it.
void require_capability(CopyMethod method, int of_chip, int of_code);
enum class Residency { l2, dram, shared };
inline constexpr auto residencies = choices_of<Residency>("l2", "dram", "shared");
enum class Measure { latency, bandwidth };
inline constexpr auto measures = choices_of<Measure>("latency", "bandwidth");

/// Values of the axes.
struct CopyCase {
  CopyMethod method = CopyMethod::registers;
  Residency residency = Residency::l2;
  Measure measure = Measure::latency;
  std::uint32_t bytes = 16;  ///< of a tile
  std::uint32_t cluster = 1;

  [[nodiscard]] constexpr bool is_latency() const { return measure == Measure::latency; }
  [[nodiscard]] constexpr bool is_distributed() const { return method == CopyMethod::distributed; }
};
[[nodiscard]] CopyCase case_of(const Params& params);

/// Tiles in flight in a bandwidth case.
inline constexpr std::uint32_t stages = 4;
inline constexpr std::uint32_t threads = 256;
inline constexpr std::uint32_t smallest_streamed = 1024;
inline constexpr std::uint32_t largest_streamed = 32768;
inline constexpr std::uint32_t word_bytes = sizeof(std::uint32_t);

/// Tiles of `bytes` bytes, one every `pitch` bytes, `count` of them.
struct Tiles {
  std::uint32_t bytes = 0;
  std::uint32_t pitch = 0;
  std::uint32_t count = 0;

  [[nodiscard]] STRATA_HD constexpr std::uint64_t size() const {
    return std::uint64_t{count} * pitch;
  }
  /// The tile that block `block` of `blocks` copies in round `round`. All blocks together traverse
  /// all tiles.
  [[nodiscard]] STRATA_HD constexpr std::uint32_t tile(std::uint32_t block, std::uint32_t blocks,
                                                       std::uint32_t round) const {
    return static_cast<std::uint32_t>((block + std::uint64_t{round} * blocks) % count);
  }
  /// The index of a tile's first word in the array.
  [[nodiscard]] STRATA_HD constexpr std::uint32_t first_word(std::uint32_t tile) const {
    return static_cast<std::uint32_t>(std::uint64_t{tile} * pitch / sizeof(std::uint32_t));
  }
};
/// The matrix that a tensor map describes: a tile is several whole rows of it.
struct Rows {
  std::uint32_t bytes = 0;      ///< of the tile in a row: at most 256 words
  std::uint32_t pitch = 0;      ///< from a row to the next
  std::uint32_t of_a_tile = 1;  ///< rows
};
inline constexpr std::uint32_t widest_row = 1024;
[[nodiscard]] constexpr Rows map_rows(const Tiles& tiles) {
  if (tiles.bytes <= widest_row) return {.bytes = tiles.bytes, .pitch = tiles.pitch};
  return {.bytes = widest_row, .pitch = widest_row, .of_a_tile = tiles.bytes / widest_row};
}

/// As many tiles as fit into `footprint` bytes; small ones are spaced apart, so that no two share
/// what a miss fetches.
[[nodiscard]] Tiles tiles_for(std::uint32_t bytes, std::uint64_t footprint);
[[nodiscard]] Tiles tiles_of(const CopyCase& wanted, const GpuFacts& gpu);
/// Words of the array that contains all tiles.
[[nodiscard]] std::size_t array_words(const GpuFacts& gpu);

/// Dynamic shared memory of a block: its tiles, plus padding if all SMs are used, so that no SM
/// holds two blocks. Throws Skipped if a block cannot have it.
[[nodiscard]] std::size_t shared_bytes(const CopyCase& wanted, const GpuFacts& gpu);

/// The sum of the last words of the tiles of a latency case; `_of_one` if every round copies the
/// same tile.
[[nodiscard]] std::uint32_t expected_sum(const Tiles& tiles, std::uint32_t rounds);
[[nodiscard]] std::uint32_t expected_sum_of_one(const Tiles& tiles, std::uint32_t tile,
                                                std::uint32_t rounds);

/// Rounds of a long launch, a multiple of 5, that take hundreds of steps of the timer; at most
/// `most`.
[[nodiscard]] std::uint32_t latency_rounds(std::uint32_t bytes);
[[nodiscard]] std::uint32_t stream_rounds(std::uint32_t bytes, std::uint64_t most);

/// The case as the engine measures it on that many blocks, except its launches. The result of a
/// block's stamp is the number of wrong words, the tag the sum of the last words. Per tile of each
/// block.
[[nodiscard]] Experiment describe(const CopyCase& wanted, const Tiles& tiles, unsigned blocks);

}  // namespace strata::async_copy
