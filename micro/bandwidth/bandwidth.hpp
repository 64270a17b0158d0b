// How many bytes a second does each level of memory deliver and take, and how many must be in
// flight for that?
//
// All SMs read, write, copy, add (triad) or update arrays at one level. Bytes are counted as in
// BabelStream: each array that is accessed counts once, one that is updated in place twice.
//   shared  each warp goes repeatedly over a piece of its block's shared memory that no other warp
//           uses;
//   l1      all warps repeatedly read one piece of memory that fits into every L1 (ld.global.ca);
//   l2      reads bypass L1 (ld.global.cg); each block goes repeatedly over its own piece, because
//           L2 merges requests of SMs for the same sector that arrive at about the same time
//           (request_merging);
//   dram    resident blocks take turns: a round of all blocks accesses one contiguous piece, and
//           the range is many times the size of L2. No block ends before all data were accessed, so
//           that the start of blocks is not timed. Blocks reserve the rest of shared memory, so
//           that exactly as many are resident as the case requires.
// With several waves (`peak_bandwidth`), a launch has more blocks than are resident, and SMs that
// are served faster run more of them. At level dram, each block then has a contiguous piece.
// The time includes, besides the accesses, half an addition for each word read, one for each word
// written or updated, and about five instructions for each round's address. An SM has
// 16 issue slots per warp-load of 16 bytes a lane, and 4 per one of 4 bytes.
#pragma once

#include "harness/cuda/benchmark.cuh"

namespace strata::bandwidth {

[[nodiscard]] Benchmark declare();

enum class Level { shared, l1, l2, l3, dram };
inline constexpr auto levels = choices_of<Level>("shared", "l1", "l2", "l3", "dram");
enum class Operation { read, write, copy, triad, update };
inline constexpr auto operations =
    choices_of<Operation>("read", "write", "copy", "triad", "update");

/// Arrays that it reads from, that it writes to, and that it touches altogether.
[[nodiscard]] constexpr std::uint32_t arrays_read(Operation operation) {
  if (operation == Operation::write) return 0;
  return operation == Operation::triad ? 2 : 1;
}
[[nodiscard]] constexpr std::uint32_t arrays_written(Operation operation) {
  return operation == Operation::read ? 0 : 1;
}
[[nodiscard]] constexpr std::uint32_t arrays_of(Operation operation) {
  if (operation == Operation::update) return 1;
  return arrays_read(operation) + arrays_written(operation);
}
/// Words that a thread has in flight per round, each in a register.
[[nodiscard]] constexpr std::uint32_t words_held(Operation operation, std::uint32_t width,
                                                 std::uint32_t in_flight) {
  return std::max(1U, arrays_read(operation)) * in_flight * width / 4;
}

inline constexpr std::uint32_t lanes = 32;

/// Values of the axes.
struct LaunchShape {
  Level level = Level::dram;
  Operation operation = Operation::read;
  std::uint32_t width = 16;         ///< bytes of an access of a lane
  std::uint32_t block_size = 512;   ///< threads
  std::uint32_t blocks_per_sm = 2;  ///< resident
  std::uint32_t in_flight = 4;      ///< accesses to each array in flight per thread
  std::uint32_t waves = 1;          ///< blocks of a long launch per resident block, about
  LinearWords data = {};            ///< contents of what is read

  /// Whether filler keeps further blocks from becoming resident.
  [[nodiscard]] constexpr bool limits_residency() const {
    return level == Level::dram || waves > 1;
  }
  [[nodiscard]] constexpr std::uint32_t warps() const { return block_size / lanes; }
  /// Bytes of one array per round of a warp, and of a block.
  [[nodiscard]] constexpr std::uint32_t chunk() const { return in_flight * lanes * width; }
  [[nodiscard]] constexpr std::uint32_t tile() const { return warps() * chunk(); }
};
[[nodiscard]] LaunchShape shape_of(const Params& params);
/// Why no device runs a shape; empty if one may.
[[nodiscard]] std::optional<std::string> impossible(const LaunchShape& shape);

/// Why there is no kernel for a shape, or null. Determines which kernels are compiled, which cases
/// exist, and what `strata list` shows.
[[nodiscard]] constexpr const char* no_kernel(Level level, Operation operation, std::uint32_t width,
                                              std::uint32_t in_flight) {
  if (level == Level::l3) return "a GPU has no L3";
  if (level == Level::l1 && operation != Operation::read) {
    return "L1 passes every store on to L2: only reads stay in it";
  }
  if (level == Level::shared && width > 16) return "shared memory accesses have at most 16 bytes";
  // ptxas places the first sum before the fifth load.
  if (level == Level::shared && in_flight > 4) {
    return "shared memory answers before a thread has more than 4 accesses in flight";
  }
  const bool writes = operation != Operation::read;
  if (level == Level::shared && writes && in_flight == 2) {
    return "operations that write to shared memory have 1 or 4 accesses in flight";
  }
  const bool adds = operation == Operation::triad || operation == Operation::update;
  if (adds && (in_flight == 2 || in_flight > 8)) {
    return "triads and updates have 1, 4 or 8 accesses in flight";
  }
  return nullptr;
}

/// How the warps of a launch traverse each array; all in bytes. A warp's region starts at (block
/// mod pieces) × block_base + warp × warp_base and has `span` bytes. Within it the warp begins at
/// warp × warp_step mod span and advances by `advance` after each round; at the end of the region
/// it starts again.
struct AddressPattern {
  std::uint64_t block_base = 0;
  std::uint32_t warp_base = 0;
  std::uint32_t span = 0;
  std::uint32_t warp_step = 0;
  std::uint32_t advance = 0;
  std::uint32_t pieces = ~0U;  ///< fewer than blocks: readers share them if L2 has no room for more
};

/// Everything about a case that is decided in advance.
struct Plan {
  LaunchShape shape;
  AddressPattern pattern;
  Lengths lengths;                  ///< work is bytes moved by each SM
  std::uint32_t passes = 1;         ///< rounds after which a writer has visited everything once
  std::uint64_t array_bytes = 0;    ///< of each array; at level shared, of each block's
  std::uint32_t dynamic_bytes = 0;  ///< shared memory of a block: its arrays, or padding that keeps
                                    ///< other blocks from becoming resident

  /// Bytes of one array that a launch traverses, and bytes that it moves, counted as in
  /// BabelStream.
  [[nodiscard]] std::uint64_t bytes_of_array(const Length& length) const {
    return std::uint64_t{length.blocks} * length.rounds * shape.tile();
  }
  [[nodiscard]] std::uint64_t bytes(const Length& length) const {
    return bytes_of_array(length) *
           (arrays_read(shape.operation) + arrays_written(shape.operation));
  }
  /// Words of the written array that a launch touches: in device memory, or in one block's shared
  /// memory.
  [[nodiscard]] std::uint64_t words(const Length& length) const {
    const bool shared = shape.level == Level::shared;
    return (shared ? array_bytes : std::min(array_bytes, bytes_of_array(length))) / 4;
  }
  /// How often a launch updates each of them. At level dram, a short launch is part of a pass.
  [[nodiscard]] std::uint32_t updates(const Length& length) const {
    return (length.rounds + passes - 1) / passes;
  }
};
/// Bytes of device memory for the arrays of all cases.
[[nodiscard]] inline std::uint64_t pool_bytes(const GpuFacts& gpu) {
  return std::min(std::uint64_t{2} << 30U, gpu.memory_bytes / 4);
}
/// Throws Skipped if the device cannot hold the shape or the loads in flight.
[[nodiscard]] Plan plan_for(const LaunchShape& shape, const GpuFacts& gpu);

/// Bytes of shared memory that each kernel needs for itself, and that the system reserves per
/// block: left free.
inline constexpr std::uint32_t shared_of_kernel = 256;
inline constexpr std::uint32_t shared_of_system = 1024;

/// Contents of the arrays, which are contiguous: a line, and a line again after every operation.
/// The first is written, the next are read; an update and a read use only the first.
using Line = LinearWords;
/// Contents of memory that was not written since it was last checked.
inline constexpr Line poison{.slope = 0, .start = 0xA5A5A5A5U};
/// The number that an update adds to each word, and the factor of a triad's second array.
inline constexpr std::uint32_t update_step = 0x3C6EF372U;
inline constexpr std::uint32_t triad_factor = 3;

/// Contents of the written array after a launch.
[[nodiscard]] Line written(const Plan& plan, const Length& length, std::uint32_t salt);

/// The sum of a reading launch over all of its threads.
[[nodiscard]] std::uint32_t expected_sum(const Plan& plan, const Length& length);
/// The result of a launch that writes to shared memory, over all threads: word j of the written
/// array times 2 j + 1, summed over words and blocks.
[[nodiscard]] std::uint32_t expected_shared_sum(const Plan& plan, const Length& length,
                                                std::uint32_t salt);

/// The launches' start and lengths.
[[nodiscard]] Slope slope_of(const Plan& plan);
/// The case as the engine measures it on a GPU, except its launches.
[[nodiscard]] Experiment describe_plan(const Plan& plan, const GpuFacts& gpu);

#ifdef __CUDACC__

// Launches of the streaming kernel in any shape, shared by `bandwidth` and `peak_bandwidth`.
struct Pool;

class StreamLaunches {
 public:
  explicit StreamLaunches(Session& session);

  /// Bytes per second of all SMs, from a short and a long launch that are not verified. 0 if the
  /// SMs cannot hold the shape.
  [[nodiscard]] double try_rate(Plan plan);
  /// Measures the case by the engine. Throws Skipped if the SMs cannot hold the shape.
  void measure(Plan plan);

 private:
  void fill_pool(const Line& data = {});
  const void* complete(Slope& slope, Plan& plan);
  double lone_round(LaunchShape shape);

  Session& session_;
  GpuFacts gpu_;
  CudaMachine machine_;
  Pool& pool_;
};

#endif

}  // namespace strata::bandwidth
