// How many bytes a second does each level of memory deliver and take, and how many must be in
// flight for that?
//
// The whole chip reads, writes, copies, adds (triad) or updates arrays that lie at one level. The
// number of bytes in flight is the product of what the axes set: threads of a block, blocks of an
// SM, accesses that a thread has under way at once, and their width. Bytes count as BabelStream
// counts them: each array that an operation touches once, an array updated in place twice.
//
// Where the data lie and who walks over them:
//   shared  each warp goes round a piece of its block's shared memory that nobody else touches;
//   l1      all warps go round one piece of memory that fits every L1 (ld.global.ca);
//   l2      reads bypass L1 (ld.global.cg), and every block walks over the whole array in an order
//           of its own, in which no two blocks are ever at one place in the same round: requests of
//           several SMs for one line would be answered as one. Writers have a piece of their own;
//   dram    one pass: blocks come and go, each with a contiguous piece that is touched once, over a
//           range many times the size of L2. It is the fastest form known, and as many blocks are
//           resident as the case says because the rest of shared memory is taken.
//
// Inside the time beside the accesses: half an addition for each word read, one for each word
// written or updated, and about five instructions for the address of each round; a warp-load of 16
// bytes a lane leaves an SM 16 slots for issue, one of 4 bytes leaves 4.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/counted_loads.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/word_patterns.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::bandwidth {

[[nodiscard]] Benchmark declare();

enum class Level { shared, l1, l2, dram };
enum class Operation { read, write, copy, triad, update };
[[nodiscard]] std::optional<Operation> operation_from(std::string_view name);
/// Arrays that it reads from, that it writes to, and that it touches altogether.
[[nodiscard]] std::uint32_t arrays_read(Operation operation);
[[nodiscard]] std::uint32_t arrays_written(Operation operation);
[[nodiscard]] std::uint32_t arrays_of(Operation operation);

inline constexpr std::uint32_t lanes = 32;

/// What the axes set.
struct Shape {
  Level level = Level::dram;
  Operation operation = Operation::read;
  std::uint32_t width = 16;         ///< bytes of an access of a lane
  std::uint32_t block_size = 512;   ///< threads
  std::uint32_t blocks_per_sm = 2;  ///< resident
  std::uint32_t flights = 4;        ///< accesses to each array that a thread has under way

  [[nodiscard]] constexpr std::uint32_t warps() const { return block_size / lanes; }
  /// Bytes of one array that a warp, and a block, takes in a round.
  [[nodiscard]] constexpr std::uint32_t chunk() const { return flights * lanes * width; }
  [[nodiscard]] constexpr std::uint32_t tile() const { return warps() * chunk(); }
  /// Bytes that an SM has asked for and not got, or given and not seen taken, at the most.
  [[nodiscard]] std::uint64_t in_flight() const;
  bool operator==(const Shape&) const = default;
};
/// Of the session's case on the cuda backend.
[[nodiscard]] Shape shape_of(const Session& session);

/// How the warps of a launch go over each array; all in bytes. A warp's region starts at
/// block × block_base + warp × warp_base and has `span` bytes. Within it the warp begins at
/// (block × block_step + warp × warp_step) mod span and goes on by `advance` after each round, by
/// advance × (1 + 2 (block + block ÷ group)) where `group` is not 0; where the region ends, it
/// starts again.
struct Walk {
  std::uint64_t block_base = 0;
  std::uint32_t warp_base = 0;
  std::uint32_t span = 0;
  std::uint32_t block_step = 0;
  std::uint32_t warp_step = 0;
  std::uint32_t advance = 0;
  std::uint32_t group = 0;
};

/// What a device has, as far as a plan needs it.
struct Limits {
  std::uint32_t sms = 0;
  std::uint64_t l1_bytes = 0;  ///< at least, whatever is kept for shared memory
  std::uint64_t l2_bytes = 0;
  std::uint64_t pool_bytes = 0;           ///< of device memory that is there for the arrays
  std::uint64_t shared_of_sm = 0;         ///< bytes of shared memory
  std::uint64_t shared_of_block = 0;      ///< at the most, opted into
  double dram_bytes_per_second = 4.8e12;  ///< roughly: only the length of a launch hangs on it
  double core_hertz = 1.8e9;              ///< the same
};

/// A launch: a short and a long one differ in nothing else.
struct Launch {
  std::uint32_t blocks = 0;
  std::uint32_t rounds = 0;
};

/// Everything about a case that is decided before it runs.
struct Plan {
  Shape shape;
  Walk walk;
  Launch brief;
  Launch full;
  std::uint32_t passes = 1;         ///< rounds after which a writer has been everywhere once
  std::uint64_t array_bytes = 0;    ///< of each array; at level shared, of each block's
  std::uint32_t dynamic_bytes = 0;  ///< shared memory of a block: its arrays, or what keeps other
                                    ///< blocks from becoming resident

  /// Bytes that a launch moves, by the count of BabelStream.
  [[nodiscard]] std::uint64_t bytes(const Launch& launch) const;
  /// Words of an array of the writer that a launch touches: in device memory, or in one block's
  /// shared memory.
  [[nodiscard]] std::uint64_t words(const Launch& launch) const;
  /// How often a launch updates each of them.
  [[nodiscard]] std::uint32_t updates(const Launch& launch) const;
};
/// Throws Skipped where the device cannot hold the shape or what it has in flight.
[[nodiscard]] Plan plan_for(const Shape& shape, const Limits& limits);

/// Bytes of shared memory that each kernel needs for itself, and that the system takes of each
/// block: left free.
inline constexpr std::uint32_t shared_of_kernel = 256;
inline constexpr std::uint32_t shared_of_system = 1024;

/// What the arrays hold: a line, and a line again after every operation.
using Line = LinearWords;
/// What memory holds that nothing was written to since it was last checked.
inline constexpr Line poison{.slope = 0, .start = 0xA5A5A5A5U};
/// What an update adds to each word, and what a triad multiplies its second array by.
inline constexpr std::uint32_t update_step = 0x3C6EF372U;
inline constexpr std::uint32_t triad_factor = 3;

/// The word at which each array starts, in the pool or in a block's shared memory; the first is
/// written to, the next are read from. An update and a read have the first only.
[[nodiscard]] std::uint64_t first_word(const Plan& plan, std::uint32_t array);
/// What the array that is written to holds after `launch`, where all lay on `data` before.
[[nodiscard]] Line written(const Plan& plan, const Launch& launch, const Line& data,
                           std::uint32_t salt);

/// What a reading launch adds up over all of its threads.
[[nodiscard]] std::uint32_t expected_sum(const Plan& plan, const Launch& launch, const Line& data);
/// What all threads of a launch that writes to shared memory report: word j of the array that was
/// written to, times 2 j + 1, added up over words and blocks.
[[nodiscard]] std::uint32_t expected_shared_sum(const Plan& plan, const Launch& launch,
                                                const Line& data, std::uint32_t salt);

/// Requests and sectors of the loads (and of the stores) of a launch, in device memory.
[[nodiscard]] LoadPrediction predicted_loads(const Plan& plan, const Launch& launch);
[[nodiscard]] std::uint64_t predicted_store_sectors(const Plan& plan, const Launch& launch);

/// `level`: what was stored reached L2 once, sector for sector, and went on to memory where the
/// case claims so: all but what L2 may still hold; or stayed in L2.
[[nodiscard]] Gate store_level_gate(ServedBy claimed, std::uint64_t sectors, std::uint64_t l2_bytes,
                                    const Counted& counted);
/// One gate that says what both say, as strict as the stricter one.
[[nodiscard]] Gate both(const Gate& one, const Gate& other);

/// Bytes a cycle that the L1 or the shared memory of an SM can give at most.
[[nodiscard]] double l1_limit(std::string_view compute_capability);

/// What one pair of launches, short and long, showed.
struct Observation {
  double inside = 0;   ///< bytes an SM and cycle, by the clock of the SMs
  double outside = 0;  ///< the same by the timer outside
  double bytes_per_second = 0;
  double grid_seconds = 0;
  double core_hertz = 0;
};

/// Names of units and methods, which differ between backends.
struct Naming {
  const char* per_core_unit;
  const char* inside;
  const char* outside;
  const char* whole;
  const char* clock;
};
/// Adds every timed quantity and the timer and clock gates. `limit`: bytes a second, or a cycle of
/// an SM, that the level cannot exceed; 0 where nobody knows.
void report(Session& session, const Collection<Observation>& seen, const Naming& naming,
            double limit, bool limit_is_of_a_cycle);

}  // namespace strata::bandwidth
