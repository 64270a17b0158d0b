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

#include "harness/cuda/benchmark.cuh"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

namespace strata::atomics {

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

inline constexpr std::uint32_t in_flight = 4;  ///< chains per lane where rates are timed
inline constexpr std::uint32_t unroll = 8;     ///< operations between two branches of the loop

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

struct LaunchShape {
  std::uint32_t blocks = 1;
  std::uint32_t warps_of_block = 1;
  std::uint32_t chains = 1;  ///< of a lane
  [[nodiscard]] std::uint32_t warps() const { return blocks * warps_of_block; }
  [[nodiscard]] std::uint32_t threads() const { return warps() * warp_lanes; }
};

/// The word of each lane is warp × by_warp + lane × by_lane bytes from the start.
struct WordPitch {
  std::uint32_t by_warp = 0;
  std::uint32_t by_lane = 0;
};

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

/// The rows of both backends. `quantity`: the cost of a worker's operation, times `scale`; the
/// latency is scaled by `scale_alone`.
inline Experiment described(const Variant& variant, const char* quantity, double scale,
                            double workers, double of_an_instruction, double scale_alone = 1) {
  Experiment experiment;
  const std::size_t all = variant.returns ? 1 : 0;
  experiment.slopes.resize(all + 1);
  if (variant.returns) add_both(experiment, "atomic_latency", "cycle", 0, scale_alone);
  add_both(experiment, quantity, "cycle", all, scale);
  experiment.rows.push_back(
      {"atomics_per_cycle", "1/cycle", By::inside, per_cycle(of_an_instruction / scale, all)});
  experiment.rows.push_back({"atomic_rate", "1/s", By::outside, per_second(workers, all)});
  return experiment;
}

/// The number that a word encodes. A float that is not a whole number becomes one that no check
/// accepts.
inline std::uint64_t number_of(Operation operation, std::uint64_t word) {
  if (operation != Operation::add_float) return word;
  const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(word));
  const bool whole = value >= 0 && value < exact_floats && value == std::floor(value);
  return whole ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0};
}

/// What is summed: the words themselves or, for exchanges, their hashes.
inline std::uint64_t summed(Operation operation, std::uint64_t word) {
  return operation == Operation::exch_int ? hashed_word(static_cast<std::uint32_t>(word)) : word;
}

/// What a launch has in the place of an argument that is otherwise 0: the operand of an addition
/// then depends on the result of the one before. Of a float, the lowest bit of its exponent, so
/// that sums stay exact.
inline constexpr std::uint32_t altered_zero = 0x00800000U;
/// The same for launches with `altered_zero` that return old values to workers with words of their
/// own: the host follows each chain, step by step.
[[nodiscard]] Compare chained(Operation operation, std::uint32_t chains, const Places& places);

/// Operations of a worker in a long launch of about `seconds`; fewer where floats would be inexact.
inline std::uint32_t operations_for(Operation operation, const Places& places, std::uint32_t unit,
                                    double seconds, double seconds_each) {
  constexpr double least_each = 5e-9;  // no chip is as fast: bounds the number of operations
  constexpr std::uint32_t largest_operand = 2;
  auto most = static_cast<std::uint32_t>(seconds / std::max(seconds_each, least_each));
  if (operation == Operation::add_float) {
    const auto sharers = std::ranges::count(places.target, places.target.front());
    most = std::min(most,
                    (exact_floats - 4) / (static_cast<std::uint32_t>(sharers) * largest_operand));
  }
  return std::max(2U, most / unit) * unit;
}

inline auto sized(Operation operation, const Places& places, std::uint32_t unit, double seconds) {
  return [=](const std::function<Launched(const Length&)>& run) {
    return size_by_trials(run, unit, [&](double seconds_each) {
      return operations_for(operation, places, unit, seconds, seconds_each);
    });
  };
}

inline Variant variant_of(const Params& params) {
  return {.space = spaces.of(params.at("space")),
          .target = targets.of(params.at("target")),
          .operation = operations.of(params.at("operation")),
          .returns = returning.of(params.at("returns"))};
}

inline Benchmark declare() {
  return {
      .suite = "micro",
      .name = "atomics",
      .question = "What does an atomic operation cost, alone and under contention?",
      .axes = {spaces.axis("space", "memory level of the words"),
               operations.axis("operation", "addition, compare and swap, or exchange"),
               returning.axis("returns", "whether the old value is returned (atom) or not (red)"),
               targets.axis("target",
                            "one word for all lanes (cores of a CPU), one per warp, one per core "
                            "on shared lines, or one per lane")},
      .quantities =
          {{"atomic_latency",
            "cycles of an operation of one warp, or one core, that needs the previous result; in "
            "global memory the mean of words in the near and in the far half of L2"},
           {"atomic_latency_near", "the same for words whose home is the half near the SM"},
           {"atomic_latency_far", "the same for words whose home is the far half"},
           {"warp_atomic_cycles", "SM cycles of a warp's operation on full SMs"},
           {"core_atomic_cycles", "cycles of a core's operation with all cores at work"},
           {"atomics_per_cycle", "operations of lanes per SM; per core of a CPU"},
           {"atomic_rate", "operations of lanes on all SMs; on all cores of a CPU"},
           {"core_clock", "clock of the core during the work"}},
      .seconds_per_case = 0.04,
      .excludes = [](const Params& params, Backend backend) -> std::optional<std::string> {
        if (const char* const why = why_not(variant_of(params), backend)) return why;
        return std::nullopt;
      }};
}

/// The numbers of the first `count` words of `memory`.
inline std::vector<std::uint64_t> numbers_in(const void* memory, Operation operation,
                                             std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  const std::size_t width = width_of(operation);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&numbers[i], static_cast<const std::byte*>(memory) + i * width, width);
    numbers[i] = number_of(operation, numbers[i]);
  }
  return numbers;
}

inline WordPitch pitch_of(const Variant& variant) {
  const std::uint32_t width = width_of(variant.operation);
  if (variant.target == Target::same) return {};
  if (variant.target == Target::warp) return {.by_warp = warp_pitch};
  return {.by_warp = warp_lanes * width, .by_lane = width};
}

inline Places Places::of_threads(const Variant& variant, const LaunchShape& shape) {
  const bool shared = variant.space == StateSpace::shared;
  const std::uint32_t warps = shared ? shape.warps_of_block : shape.warps();  // of an area
  const std::uint32_t width = width_of(variant.operation);
  const WordPitch pitch = pitch_of(variant);
  const std::uint32_t area = std::max(warp_pitch, warps * pitch.by_warp) / width;
  Places places{.words = std::size_t{area} * shape.warps() / warps, .area = area};
  for (std::uint32_t thread = 0; thread < shape.threads(); ++thread) {
    const std::uint32_t warp = thread / warp_lanes;
    const std::uint32_t byte = warp % warps * pitch.by_warp + thread % warp_lanes * pitch.by_lane;
    places.target.push_back(warp / warps * area + byte / width);
  }
  return places;
}

inline Places Places::of_cores(const Variant& variant, std::size_t cores) {
  if (variant.target == Target::warp) throw std::logic_error{"no core has that target"};
  const auto of_lines = static_cast<std::uint32_t>(core_pitch / width_of(variant.operation));
  const std::uint32_t pitch = variant.target == Target::same   ? 0
                              : variant.target == Target::line ? 1
                                                               : of_lines;
  Places places;
  for (std::uint32_t core = 0; core < cores; ++core)
    places.target.push_back(core * pitch);
  places.words = places.area = std::size_t{places.target.back() / of_lines + 1} * of_lines;
  return places;
}

inline Places Places::times(std::uint32_t copies) const {
  Places all{.words = copies * words, .area = area};
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    for (const std::uint32_t word : target)
      all.target.push_back(static_cast<std::uint32_t>(copy * words) + word);
  }
  return all;
}

/// Made once for all launches of a shape.
inline Compare comparison(Operation operation, std::uint32_t chains, const Places& places) {
  std::vector<std::uint64_t> first;
  for (std::size_t i = 0; i < places.words; ++i) {
    const auto index = static_cast<std::uint32_t>(i % places.area);
    first.push_back(summed(operation, initial_word(operation, index)));
  }
  std::vector<std::uint64_t> operands(places.target.size());  // of each worker: of all its chains
  for (std::uint32_t worker = 0; worker < operands.size(); ++worker) {
    for (std::uint32_t chain = 0; chain < chains; ++chain)
      operands[worker] += summed(operation, operand_of(operation, worker, chain));
  }
  return [=, target = places.target](
             std::span<const std::uint64_t> words, std::span<const std::uint32_t> left,
             const std::function<std::uint64_t(std::size_t)>& done, Tally& tally) {
    if (words.size() != first.size() || left.size() != target.size()) {
      throw std::length_error{"a result of another launch"};
    }
    std::vector<std::uint64_t> wanted = first;
    for (std::size_t worker = 0; worker < target.size(); ++worker) {
      std::uint64_t& word = wanted[target[worker]];
      if (is_addition(operation)) {
        word += done(worker) / chains * operands[worker];
        tally.one(left[worker] == static_cast<std::uint32_t>(operands[worker]));
      } else if (operation == Operation::exch_int) {
        // Every value is somewhere: what a worker holds is missing from its word.
        word += operands[worker] - left[worker];
      } else {
        word += std::uint64_t{left[worker]} * swap_step;
        // A lone worker tries, loses, and wins with the value that it found.
        if (target.size() == 1 && chains == 1) tally.one(left[worker] == done(worker) / 2);
      }
    }
    const std::uint64_t mask = operation == Operation::add_int64 ? ~std::uint64_t{0} : 0xFFFFFFFFU;
    for (std::size_t i = 0; i < words.size(); ++i)
      tally.one(summed(operation, words[i]) == (wanted[i] & mask));
  };
}

}  // namespace strata::atomics
