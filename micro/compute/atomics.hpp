// What does an atomic operation cost, and what when others want the same word?
//
// Lanes add to, exchange or compare and swap a word in shared memory or in global memory, which for
// atomics is L2: each lane a word of its own (`disjoint`), the lanes of a warp the same (`warp`),
// or all lanes that can reach it the same (`same`: those of a block in shared memory, all of the
// chip in global memory). Two costs are timed: the latency in a warp that has the chip to itself,
// where an operation needs what the one before returned, and the rate of 32 warps on every SM.
//
// Inside the latency that is not the atomic: one logic operation or addition in the chain, which
// ties the operand to the returned value (an exchange has none: it passes on what it got). Nothing
// is returned by `returns=no` (red), so that has a rate and no latency.
//
// On a CPU the threads are cores and the words lie in memory: one for all of them (`same`), one for
// each, side by side on lines that they share (`line`) or on lines of their own (`disjoint`). The
// latency is that of one core alone, whose word nobody else wants; the rate is that of all cores.
//
// The result is exact in any order. Integers add up modulo their width; floats are small whole
// numbers, whose sum stays below 2^24; exchanges only move values about, so a sum over the hashes
// of all of them stays as it is; of compare and swap the winners count themselves, and the word
// went up by as many. A swap tries the value that the last try returned, so that alone on its word
// it wins every second time.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/word_patterns.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::atomics {

[[nodiscard]] Benchmark declare();

enum class Space { shared, global };
enum class Target { same, warp, line, disjoint };
enum class Operation { add_int, add_float, add_int64, cas_int, exch_int };

/// A case.
struct Kind {
  Space space = Space::shared;
  Target target = Target::disjoint;
  Operation operation = Operation::add_int;
  bool returns = true;
};
[[nodiscard]] Kind kind_of(const Session& session);

inline constexpr std::uint32_t warps_per_sm = 32;
inline constexpr std::uint32_t block_threads = warps_per_sm * warp_lanes;
/// Operations of a lane that do not wait for each other, where rates are timed; and those between
/// two branches of the loop.
inline constexpr std::uint32_t in_flight = 4;
inline constexpr std::uint32_t unroll = 8;
/// From a warp's word to the next warp's: a line each.
inline constexpr std::uint32_t warp_pitch = 128;
/// What a winner of compare and swap adds.
inline constexpr std::uint32_t swap_step = 0x9E3779B1U;
/// Floats below are whole numbers, and so is every sum of them below this.
inline constexpr std::uint32_t exact_floats = 1U << 24U;

[[nodiscard]] constexpr bool is_addition(Operation operation) {
  return operation != Operation::cas_int && operation != Operation::exch_int;
}

/// Bytes of a word.
[[nodiscard]] constexpr std::uint32_t width_of(Operation operation) {
  return operation == Operation::add_int64 ? 8 : 4;
}

/// Where the word of each lane lies: warp × by_warp + lane × by_lane bytes from the start.
struct Placement {
  std::uint32_t by_warp = 0;
  std::uint32_t by_lane = 0;
};
[[nodiscard]] Placement placement_of(const Kind& kind);
/// Bytes that hold the words of `warps` warps: whole lines.
[[nodiscard]] std::uint32_t bytes_for(const Kind& kind, std::uint32_t warps);

/// What the word at `index` (words of the operation's width) holds before anything happens: the raw
/// bits. Words of floats hold 1, 2, 3 or 4.
STRATA_HD constexpr std::uint64_t initial_word(Operation operation, std::uint32_t index) {
  if (operation == Operation::add_float) return 1 + index % 4;  // converted, not as bits
  const std::uint32_t low = hashed_word(index);
  if (operation != Operation::add_int64) return low;
  return std::uint64_t{hashed_word(~index)} << 32U | low;
}

/// What chain `chain` of thread `thread` of the grid adds each time, or brings along to exchange or
/// to compare with. Floats add 1 or 2.
STRATA_HD constexpr std::uint64_t operand_of(Operation operation, std::uint32_t thread,
                                             std::uint32_t chain) {
  if (operation == Operation::add_float) return 1 + (thread + chain) % 2;
  const std::uint32_t low = hashed_word(0x40000000U + thread * in_flight + chain);
  if (operation != Operation::add_int64) return low;
  return std::uint64_t{hashed_word(~low)} << 32U | low;
}

/// A launch: so many warps, in blocks that do not share what lies in shared memory.
struct Launch {
  std::uint32_t blocks = 1;
  std::uint32_t warps_of_block = 1;
  std::uint32_t chains = 1;      ///< of a lane
  std::uint32_t operations = 0;  ///< of a lane, all its chains together
  [[nodiscard]] std::uint32_t threads() const { return blocks * warps_of_block * warp_lanes; }
};

/// Words of the result that a launch leaves behind: of one block after the other in shared memory,
/// of the whole grid in global memory. Words between targets are never touched, and checked too.
[[nodiscard]] std::uint32_t result_words(const Kind& kind, const Launch& launch);

/// What came of a launch.
struct Result {
  std::span<const std::uint64_t> words;  ///< floats as their value, rounded to a whole number
  std::span<const std::uint32_t>
      left;  ///< of each thread: winners counted, hashes of what it holds
};
/// How many words and threads a result has that are not what they must be. Made once for a launch
/// and asked for each of its repetitions.
class Expected {
 public:
  Expected(const Kind& kind, const Launch& launch);
  [[nodiscard]] std::size_t checks() const { return checks_; }
  [[nodiscard]] std::size_t different(const Result& result) const;

 private:
  [[nodiscard]] std::uint32_t target_of(std::uint32_t thread) const;

  Kind kind_;
  Launch launch_;
  std::uint64_t mask_;
  std::uint32_t words_of_area_;
  std::vector<std::uint64_t> words_;   ///< final words of additions, first words of the others
  std::vector<std::uint32_t> left_;    ///< of additions: sums of the operands
  std::vector<std::uint32_t> hashes_;  ///< of exchanges: of all values that meet at a word
  std::size_t checks_ = 0;
};

/// Operations of a lane in the long launch, a multiple of `unroll` and at least two of them: about
/// `seconds` of work, given that one takes `seconds_each`; fewer where floats would not stay exact.
[[nodiscard]] std::uint32_t operations_for(const Kind& kind, const Launch& launch, double seconds,
                                           double seconds_each);

/// What short and long launches showed.
struct Observation {
  double chain_inside = 0;   ///< cycles of an operation of the chain, by the clock of its SM
  double chain_outside = 0;  ///< the same by the timer outside
  double inside =
      0;  ///< SM cycles of a warp's operation among many, by the clock of the slowest SM
  double outside = 0;                ///< the same by the timer outside
  double operations_per_second = 0;  ///< of lanes, all SMs
  double core_hertz = 0;
};
void report(Session& session, const Collection<Observation>& seen, const Kind& kind);

}  // namespace strata::atomics
