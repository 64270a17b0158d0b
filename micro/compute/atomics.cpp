#include "micro/compute/atomics.hpp"

#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>

namespace strata::atomics {
namespace {

/// The rows of both backends. `quantity`: the cost of a worker's operation, times `scale`; the
/// latency is scaled by `scale_alone`.
Experiment described(const Variant& variant, const char* quantity, double scale, double workers,
                     double of_an_instruction, double scale_alone = 1) {
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
std::uint64_t number_of(Operation operation, std::uint64_t word) {
  if (operation != Operation::add_float) return word;
  const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(word));
  const bool whole = value >= 0 && value < exact_floats && value == std::floor(value);
  return whole ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0};
}

/// What is summed: the words themselves or, for exchanges, their hashes.
std::uint64_t summed(Operation operation, std::uint64_t word) {
  return operation == Operation::exch_int ? hashed_word(static_cast<std::uint32_t>(word)) : word;
}

auto sized(Operation operation, const Places& places, std::uint32_t unit, double seconds) {
  return [=](const std::function<Launched(const Length&)>& run) {
    return size_by_trials(run, unit, [&](double seconds_each) {
      return operations_for(operation, places, unit, seconds, seconds_each);
    });
  };
}

}  // namespace

Benchmark declare() {
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

Variant variant_of(const Params& params) {
  return {.space = spaces.of(params.at("space")),
          .target = targets.of(params.at("target")),
          .operation = operations.of(params.at("operation")),
          .returns = returning.of(params.at("returns"))};
}

std::vector<std::uint64_t> numbers_in(const void* memory, Operation operation, std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  const std::size_t width = width_of(operation);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&numbers[i], static_cast<const std::byte*>(memory) + i * width, width);
    numbers[i] = number_of(operation, numbers[i]);
  }
  return numbers;
}

WordPitch pitch_of(const Variant& variant) {
  const std::uint32_t width = width_of(variant.operation);
  if (variant.target == Target::same) return {};
  if (variant.target == Target::warp) return {.by_warp = warp_pitch};
  return {.by_warp = warp_lanes * width, .by_lane = width};
}

Places Places::of_threads(const Variant& variant, const LaunchShape& shape) {
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

Places Places::of_cores(const Variant& variant, std::size_t cores) {
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

Places Places::times(std::uint32_t copies) const {
  Places all{.words = copies * words, .area = area};
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    for (const std::uint32_t word : target)
      all.target.push_back(static_cast<std::uint32_t>(copy * words) + word);
  }
  return all;
}

std::vector<std::uint32_t> candidate_offsets(std::span<const std::uint32_t> order) {
  constexpr std::uint32_t apart = 256;  // the most that a warp's words take
  std::vector<std::uint32_t> offsets;
  for (std::uint32_t i = 0; i < candidates; ++i) {
    const std::uint32_t piece = order.empty() ? i : order[i];
    offsets.push_back(piece * candidate_pitch +
                      hashed_word(piece) % (candidate_pitch / apart) * apart);
  }
  return offsets;
}

Homes balanced(std::span<const double> cycles) {
  constexpr double share_bound = 0.85;  // uniformly spread latencies give 0.75
  constexpr std::size_t half = places_alone / 2;
  Homes homes{.order = std::vector<std::uint32_t>(cycles.size())};
  std::iota(homes.order.begin(), homes.order.end(), 0U);
  const TwoGroups groups = two_groups(cycles);
  homes.are_two =
      groups.share >= share_bound && groups.lower >= half && cycles.size() - groups.lower >= half;
  if (!homes.are_two) return homes;
  std::ranges::stable_sort(homes.order, {}, [&](std::uint32_t i) { return cycles[i]; });
  const auto middle = homes.order.begin() + static_cast<std::ptrdiff_t>(groups.lower);
  std::sort(homes.order.begin(), middle);  // in an order that is independent of distance
  std::sort(middle, homes.order.end());
  std::rotate(homes.order.begin() + half, middle, middle + half);
  return homes;
}

void add_sides(Experiment& experiment, bool are_two) {
  Slope& slope = experiment.slopes.front();
  slope.window.read = [read = slope.window.read](const Launched& brief, const Launched& full) {
    Inside seen = read(brief, full);
    for (const double cycles : full.cells)
      seen.cells.push_back(cycles / full.length.rounds);
    return seen;
  };
  const auto mean_of = [](std::size_t first) {
    return [first](const Sample& sample) {
      std::vector<double> cells = sample.slopes.front().inside.cells;
      std::ranges::sort(cells);
      constexpr std::size_t half = places_alone / 2;
      return std::accumulate(cells.begin() + static_cast<std::ptrdiff_t>(first),
                             cells.begin() + static_cast<std::ptrdiff_t>(first + half), 0.0) /
             half;
    };
  };
  if (are_two) {
    constexpr const char* method = "clock64_of_words";
    experiment.rows.push_back({"atomic_latency_near", "cycle", method, mean_of(0)});
    experiment.rows.push_back({"atomic_latency_far", "cycle", method, mean_of(places_alone / 2)});
  }
  experiment.facts = [=, others = experiment.facts](const Experiment& measured) {
    Facts facts = others(measured);
    facts["latency_places"] = std::int64_t{places_alone};
    facts["latency_homes"] = std::string{are_two ? "half near, half far" : "one side"};
    return facts;
  };
}

Compare comparison(Operation operation, std::uint32_t chains, const Places& places) {
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

std::uint32_t operations_for(Operation operation, const Places& places, std::uint32_t unit,
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

Experiment describe(const Variant& variant, unsigned sms) {
  constexpr double timed_seconds = 2.5e-4;  // of a long launch: hundreds of timer steps
  const LaunchShape full = full_chip(sms);
  const bool visits = variant.space == StateSpace::global;  // several places, one operation each
  Experiment experiment =
      described(variant, "warp_atomic_cycles", 1.0 / warps_per_sm, full.threads(),
                double{warp_lanes}, visits ? 1.0 / places_alone : 1);
  for (Slope& slope : experiment.slopes) {
    const LaunchShape shape = &slope == &experiment.slopes.back() ? full : lone_warp;
    slope.size =
        sized(variant.operation, Places::of_threads(variant, shape), unroll, timed_seconds);
    slope.writers = shape.warps();
    // Work between the readings of the two clocks cancels.
    slope.window = slowest_writer_by_sums();
    slope.held = true;
  }
  experiment.checked = "words and per-thread results against the host's";
  experiment.placement = Placement{.cores = sms, .per_core = int{warps_per_sm}};
  experiment.not_counted = "atomics have no model of counters";
  experiment.facts = [](const Experiment& measured) {
    const auto rounds = [](const Slope& slope) { return std::int64_t{slope.lengths.full.rounds}; };
    Facts facts{{"operations", rounds(measured.slopes.back())}};
    if (measured.slopes.size() > 1) facts["chain_operations"] = rounds(measured.slopes.front());
    return facts;
  };
  return experiment;
}

Experiment describe_host(const Variant& variant, std::size_t cores) {
  Experiment experiment = described(variant, "core_atomic_cycles", 1, static_cast<double>(cores),
                                    /*of_an_instruction=*/1);
  constexpr int pairs = 11;               // of which the median counts: most meet no interrupt
  constexpr double timed_seconds = 2e-4;  // of a long run: shorter than between interrupts
  experiment.pairs = pairs;
  for (Slope& slope : experiment.slopes) {
    const bool alone = &slope != &experiment.slopes.back();
    const Places places = Places::of_cores(variant, alone ? 1 : cores);
    slope.size = sized(variant.operation, places, turn, timed_seconds);
    if (alone) slope.writers = 1;
  }
  experiment.checked = "words and per-core results against the operations done";
  experiment.facts = [](const Experiment& measured) {
    return Facts{{"operations", std::int64_t{measured.slopes.back().lengths.full.rounds}}};
  };
  return experiment;
}

// Cores use std::atomic_ref; according to the disassembly, `lock xadd`, `lock add` where nothing is
// returned, `xchg` and `lock cmpxchg`. Each of them orders all memory accesses anyway, so only
// relaxed ones are timed. All cores continue until the first has done its operations, so that none
// finishes alone and without contention.
namespace {

/// Returns the old value of the word. `operand` is added to it, stored into it, or compared with
/// it.
template <Operation operation>
[[gnu::always_inline]] inline Word<operation> update(Word<operation>& word,
                                                     Word<operation> operand) {
  const std::atomic_ref<Word<operation>> shared{word};
  if constexpr (operation == Operation::add_float) {
    const auto addend = std::bit_cast<float>(operand);
    std::uint32_t old = shared.load(std::memory_order_relaxed);
    while (!shared.compare_exchange_weak(
        old, std::bit_cast<std::uint32_t>(std::bit_cast<float>(old) + addend),
        std::memory_order_relaxed)) {
    }
    return old;
  } else if constexpr (operation == Operation::exch_int) {
    return shared.exchange(operand, std::memory_order_relaxed);
  } else if constexpr (operation == Operation::cas_int) {
    std::uint32_t old = operand;
    (void)shared.compare_exchange_strong(old, operand + swap_step, std::memory_order_relaxed);
    return old;
  } else {
    return shared.fetch_add(operand, std::memory_order_relaxed);
  }
}

/// What a core holds between two operations of one chain.
template <Operation operation>
struct Held {
  Word<operation> operand{};
  Word<operation> word{};
  std::uint32_t wins = 0;

  explicit Held(std::uint64_t number) : operand{word_of<operation>(number)}, word{operand} {}

  template <bool returns>
  [[gnu::always_inline]] inline void step(Word<operation>& at, Word<operation> zero) {
    const Word<operation> old = update<operation>(at, word);
    if constexpr (operation == Operation::cas_int) wins += old == word ? 1 : 0;
    if constexpr (!is_addition(operation)) {
      word = old;
    } else if constexpr (returns) {
      word = (old & zero) | operand;
    }
    // The word at `at` may have changed: the compiler can neither merge two operations nor postpone
    // the count of wins.
    asm volatile("" : "+r"(wins) : : "memory");
  }
  [[nodiscard]] std::uint32_t left() const {
    if constexpr (operation == Operation::cas_int) return wins;
    if constexpr (operation == Operation::exch_int) return hashed_word(word);
    return static_cast<std::uint32_t>(number_of(operation, word));
  }
};

}  // namespace

Compare chained(Operation operation, std::uint32_t chains, const Places& places) {
  using enum Operation;
  return with_value<add_int, add_float, add_int64, cas_int, exch_int>(
      operation, [&]<Operation one>() -> Compare {
        return [=](std::span<const std::uint64_t> words, std::span<const std::uint32_t> left,
                   const std::function<std::uint64_t(std::size_t)>& done, Tally& tally) {
          for (std::uint32_t worker = 0; worker < places.target.size(); ++worker) {
            const std::uint32_t at = places.target[worker];
            auto word =
                word_of<one>(initial_word(one, at % static_cast<std::uint32_t>(places.area)));
            std::vector<Held<one>> held;
            for (std::uint32_t chain = 0; chain < chains; ++chain)
              held.emplace_back(operand_of(one, worker, chain));
            for (std::uint64_t i = 0; i < done(worker); ++i)
              held[i % chains].template step<true>(word, altered_zero);
            std::uint32_t sum = 0;
            for (const Held<one>& chain : held)
              sum += chain.left();
            tally.one(words[at] == number_of(one, word));
            tally.one(left[worker] == sum);
          }
        };
      });
}

namespace {

/// A stamp's result: the operations that a core did, and what its chains hold at the end.
constexpr unsigned half = 32;
std::uint64_t operations_of(const Stamp& stamp) {
  return stamp.result >> half;
}

/// One chain of a core, in which each operation waits for the previous one's result, or `in_flight`
/// chains side by side. Each chain is a variable of its own: with an array, the compiler keeps two
/// elements in one register and separates them at every step. `is_zero` is 0, which the compiler
/// does not know. Stops after `operations`, or once another core is done.
template <Operation operation, bool returns, bool alone>
std::uint64_t repeat(void* at, std::uint32_t core, std::uint64_t operations, std::uint64_t is_zero,
                     std::atomic<bool>& finished) {
  static_assert(unroll == 8 && in_flight == 4);
  auto& word = *static_cast<Word<operation>*>(at);
  const auto zero = static_cast<Word<operation>>(is_zero);
  Held<operation> first{operand_of(operation, core, 0)};
  Held<operation> second{operand_of(operation, core, 1)};
  Held<operation> third{operand_of(operation, core, 2)};
  Held<operation> fourth{operand_of(operation, core, 3)};
  std::uint64_t done = 0;
  while (done < operations && !finished.load(std::memory_order_relaxed)) {
#pragma GCC unroll 1
    for (std::uint64_t i = 0; i < turn; i += unroll) {
#pragma GCC unroll 2
      for (std::uint32_t part = 0; part < 2; ++part) {
        first.template step<returns>(word, zero);
        (alone ? first : second).template step<returns>(word, zero);
        (alone ? first : third).template step<returns>(word, zero);
        (alone ? first : fourth).template step<returns>(word, zero);
      }
    }
    done += turn;
  }
  finished.store(true, std::memory_order_relaxed);
  std::uint32_t left = first.left();
  if constexpr (!alone) left += second.left() + third.left() + fourth.left();
  return done << half | left;
}

/// The loop with one chain if `alone`, otherwise with several.
auto loop_for(const Variant& variant, bool alone) {
  using enum Operation;
  using Loop = decltype(&repeat<add_int, true, true>);
  return with_value<add_int, add_float, add_int64, cas_int, exch_int>(
      variant.operation, [&]<Operation operation>() {
        return with_value<true, false>(variant.returns, [&]<bool returns>() -> Loop {
          constexpr Variant one{
              .space = StateSpace::global, .operation = operation, .returns = returns};
          if constexpr (why_not(one, Backend::host) == nullptr) {
            return alone ? repeat<operation, returns, true> : repeat<operation, returns, false>;
          }
          throw std::logic_error{"atomics: a case without a loop"};
        });
      });
}

void lay(std::byte* area, Operation operation, std::size_t words) {
  const std::size_t width = width_of(operation);
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word = initial_word(operation, static_cast<std::uint32_t>(i));
    if (operation == Operation::add_float) word = word_of<Operation::add_float>(word);
    std::memcpy(area + i * width, &word, width);
  }
}

/// On cache lines of its own.
template <class T>
struct alignas(core_pitch) Alone {
  T value{};
};

/// The mean over the cores.
double operations_done(std::span<const Stamp> stamps) {
  double all = 0;
  for (const Stamp& stamp : stamps)
    all += static_cast<double>(operations_of(stamp));
  return all / static_cast<double>(stamps.size());
}

void run(Session& session) {
  const Variant variant = variant_of(session.params());
  const std::size_t width = width_of(variant.operation);
  const auto cpus = allowed_cpus();
  Experiment experiment = describe_host(variant, cpus.size());
  require_timed(session, experiment);
  HostMachine machine{cpus};
  std::vector<Alone<std::array<std::byte, core_pitch>>> area(
      Places::of_cores(variant, cpus.size()).words * width / core_pitch);
  std::byte* const bytes = area.front().value.data();
  Alone<std::atomic<bool>> finished;
  volatile std::uint64_t zero = 0;
  for (Slope& slope : experiment.slopes) {
    const bool alone = &slope != &experiment.slopes.back();
    const Places places = Places::of_cores(variant, alone ? 1 : cpus.size());
    const auto work = [&, places, loop = loop_for(variant, alone)](std::size_t rank,
                                                                   const Call& call) {
      return loop(bytes + places.target[rank] * width, static_cast<std::uint32_t>(rank),
                  call.length.rounds, zero, finished.value);
    };
    slope.prepare = [&, places](const Call&) {
      lay(bytes, variant.operation, places.words);
      finished.value.store(false, std::memory_order_relaxed);
    };
    slope.launch = alone ? machine.on_first_core(work) : machine.on_every_core(work);
    slope.verify = [&, places,
                    compare = comparison(variant.operation, alone ? 1 : in_flight, places)](
                       const Call&, std::span<const Stamp> stamps, Tally& tally) {
      std::vector<std::uint32_t> left;
      for (const Stamp& stamp : stamps)
        left.push_back(static_cast<std::uint32_t>(stamp.result));
      compare(
          numbers_in(bytes, variant.operation, places.words), left,
          [&](std::size_t core) { return operations_of(stamps[core]); }, tally);
    };
    slope.work_done = operations_done;
  }
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::atomics
