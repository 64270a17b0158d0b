// What does an atomic operation cost, alone and under contention?
//
// Two costs are timed: the latency of operations that need the previous result, in a warp that has
// the chip to itself (a core alone), and the rate of 32 warps on every SM (of all cores). The
// latency includes a logic operation or addition that ties the operand to the returned value (an
// exchange has none).
//
// In global memory an operation is executed in the half of L2 that is the home of its word, and the
// far half costs about 200 cycles more (l2_partition). The address of a word decides its home, so
// one word would give either latency. The warp therefore visits words of both halves, found by
// trial, as many near as far: `atomic_latency` is the mean of both.
//
// The result is exact in any order. Floats are small integers; exchanges only permute values, so
// that the sum of their hashes is constant; for compare and swap the winners count themselves.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/word_patterns.hpp"

#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

namespace strata::atomics {

[[nodiscard]] Benchmark declare();

enum class StateSpace { shared, global };
inline constexpr auto spaces = choices_of<StateSpace>("shared", "global");
enum class Operation { add_int, add_float, add_int64, cas_int, exch_int };
inline constexpr auto operations =
    choices_of<Operation>("add_int", "add_float", "add_int64", "cas_int", "exch_int");
/// The sharers of a word: all workers that can reach it, the lanes of a warp, or none; cores then
/// have adjacent words on a `line`, or words on separate lines.
enum class Target { same, warp, line, disjoint };
inline constexpr auto targets = choices_of<Target>("same", "warp", "line", "disjoint");
inline constexpr Choices returning{std::pair{"yes", true}, std::pair{"no", false}};

/// Values of the axes.
struct Variant {
  StateSpace space = StateSpace::shared;
  Target target = Target::disjoint;
  Operation operation = Operation::add_int;
  bool returns = true;
};
[[nodiscard]] Variant variant_of(const Params& params);

[[nodiscard]] constexpr bool is_addition(Operation operation) {
  return operation != Operation::cas_int && operation != Operation::exch_int;
}

/// Why there is no such case, or null: for loops, cases and `strata list` alike.
[[nodiscard]] constexpr const char* why_not(const Variant& variant, Backend backend) {
  if (backend == Backend::host) {
    if (variant.space == StateSpace::shared) return "a CPU has no shared memory";
    if (variant.target == Target::warp) return "a CPU has no warps";
    if (!variant.returns && variant.operation == Operation::add_float) {
      return "a CPU adds floats by compare and swap, which needs the returned value";
    }
  } else if (variant.target == Target::line) {
    return "the words of lanes share lines where they are disjoint";
  }
  if (!variant.returns && !is_addition(variant.operation)) {
    return "an exchange is done for its returned value";
  }
  return nullptr;
}

inline constexpr std::uint32_t warps_per_sm = 32;
inline constexpr std::uint32_t block_threads = warps_per_sm * warp_lanes;
inline constexpr std::uint32_t in_flight = 4;  ///< chains per lane where rates are timed
inline constexpr std::uint32_t unroll = 8;     ///< operations between two branches of the loop
/// Operations of a core between two checks whether another core has finished.
inline constexpr std::uint32_t turn = 8 * unroll;
inline constexpr std::uint32_t warp_pitch = 128;  ///< distance between the words of warps: a line
/// Distance between the words of cores: two lines, which are prefetched together.
inline constexpr std::size_t core_pitch = 128;
inline constexpr std::uint32_t swap_step = 0x9E3779B1U;   ///< added by a winning compare and swap
inline constexpr std::uint32_t exact_floats = 1U << 24U;  ///< sums of integers below are exact

[[nodiscard]] constexpr std::uint32_t width_of(Operation operation) {
  return operation == Operation::add_int64 ? 8 : 4;
}

/// The initial number of the word at `index`.
STRATA_HD constexpr std::uint64_t initial_word(Operation operation, std::uint32_t index) {
  if (operation == Operation::add_float) return 1 + index % 4;
  const std::uint32_t low = hashed_word(index);
  if (operation != Operation::add_int64) return low;
  return std::uint64_t{hashed_word(~index)} << 32U | low;
}

/// The number that a worker's chain adds each time, or exchanges, or compares with.
STRATA_HD constexpr std::uint64_t operand_of(Operation operation, std::uint32_t worker,
                                             std::uint32_t chain) {
  if (operation == Operation::add_float) return 1 + (worker + chain) % 2;
  const std::uint32_t low = hashed_word(0x40000000U + worker * in_flight + chain);
  if (operation != Operation::add_int64) return low;
  return std::uint64_t{hashed_word(~low)} << 32U | low;
}

template <Operation operation>
using Word = std::conditional_t<operation == Operation::add_int64, std::uint64_t, std::uint32_t>;
/// A number in the representation of an operation's words.
template <Operation operation>
STRATA_HD constexpr Word<operation> word_of(std::uint64_t number) {
  if constexpr (operation == Operation::add_float) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  } else {
    return static_cast<Word<operation>>(number);
  }
}
/// The numbers of the first `count` words of `memory`.
[[nodiscard]] std::vector<std::uint64_t> numbers_in(const void* memory, Operation operation,
                                                    std::size_t count);

struct LaunchShape {
  std::uint32_t blocks = 1;
  std::uint32_t warps_of_block = 1;
  std::uint32_t chains = 1;  ///< of a lane
  [[nodiscard]] std::uint32_t warps() const { return blocks * warps_of_block; }
  [[nodiscard]] std::uint32_t threads() const { return warps() * warp_lanes; }
};
/// Where rates are timed, and where latencies are.
[[nodiscard]] constexpr LaunchShape full_chip(unsigned sms) {
  return {.blocks = sms, .warps_of_block = warps_per_sm, .chains = in_flight};
}
inline constexpr LaunchShape lone_warp{};

/// The word of each lane is warp × by_warp + lane × by_lane bytes from the start.
struct WordPitch {
  std::uint32_t by_warp = 0;
  std::uint32_t by_lane = 0;
};
[[nodiscard]] WordPitch pitch_of(const Variant& variant);

/// Words that a launch touches, including those between targets: block after block in shared
/// memory, of the grid in global memory, in pairs of lines on a CPU.
struct Places {
  std::size_t words = 0;
  std::size_t area = 0;               ///< words after which the layout repeats
  std::vector<std::uint32_t> target;  ///< the word of each worker (thread or core)

  [[nodiscard]] static Places of_threads(const Variant& variant, const LaunchShape& shape);
  [[nodiscard]] static Places of_cores(const Variant& variant, std::size_t cores);
  /// As many copies, one after the other, each with workers of its own.
  [[nodiscard]] Places times(std::uint32_t copies) const;
};

/// Compares words and workers with their expected final state, whatever the order of the
/// operations. `words`: as numbers. `left`: for each worker, the sum over its chains of what they
/// hold (exchanges: of the hashes; swaps: the number of wins). `done`: the operations of a worker,
/// all its chains together. Throws std::length_error for a result of another shape.
using Compare =
    std::function<void(std::span<const std::uint64_t> words, std::span<const std::uint32_t> left,
                       const std::function<std::uint64_t(std::size_t)>& done, Tally&)>;
/// Made once for all launches of a shape.
[[nodiscard]] Compare comparison(Operation operation, std::uint32_t chains, const Places& places);

/// What a launch has in the place of an argument that is otherwise 0: the operand of an addition
/// then depends on the result of the one before. Of a float, the lowest bit of its exponent, so
/// that sums stay exact.
inline constexpr std::uint32_t altered_zero = 0x00800000U;
/// The same for launches with `altered_zero` that return old values to workers with words of their
/// own: the host follows each chain, step by step.
[[nodiscard]] Compare chained(Operation operation, std::uint32_t chains, const Places& places);

/// Operations of a worker in a long launch of about `seconds`; fewer where floats would be inexact.
[[nodiscard]] std::uint32_t operations_for(Operation operation, const Places& places,
                                           std::uint32_t unit, double seconds, double seconds_each);

/// Where a warp alone has its words in global memory: a line, or two, in each of `candidates`
/// pieces of a buffer.
inline constexpr std::uint32_t candidates = 64;
inline constexpr std::uint32_t candidate_pitch = 65536;
inline constexpr std::uint32_t places_alone = 16;  ///< that it visits in a timed launch
/// Byte offsets of the candidates, in that order; by default the first one first.
[[nodiscard]] std::vector<std::uint32_t> candidate_offsets(
    std::span<const std::uint32_t> order = {});
/// An order of the candidates in which half of the first `places_alone` are near and half far, if
/// their cycles fall into two groups; otherwise the given one.
struct Homes {
  std::vector<std::uint32_t> order;
  bool are_two = false;
};
[[nodiscard]] Homes balanced(std::span<const double> cycles);
/// Rows of near and far words, if there are two sides, and facts. The cells of a sample's first
/// slope are the cycles of an operation at each place.
void add_sides(Experiment& experiment, bool are_two);

/// If something is returned, the first slope is of a chain alone; the last is of all workers. Per
/// operation of a worker.
[[nodiscard]] Experiment describe(const Variant& variant, unsigned sms);
[[nodiscard]] Experiment describe_host(const Variant& variant, std::size_t cores);

}  // namespace strata::atomics
