// Cores use std::atomic_ref; according to the disassembly, `lock xadd`, `lock add` where nothing is
// returned, `xchg` and `lock cmpxchg`. Each of them orders all memory accesses anyway, so only
// relaxed ones are timed. All cores continue until the first has done its operations, so that none
// finishes alone and without contention.
/// Returns the old value of the word. `operand` is added to it, stored into it, or compared with
/// it.
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "micro/compute/atomics.hpp"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

namespace strata::atomics {
namespace {

/// Operations of a core between two checks whether another core has finished.
constexpr std::uint32_t turn = 8 * unroll;

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
    const auto verify_by = [&, words = places.words](const Compare& compare) {
      return [&, words, compare](const Call&, std::span<const Stamp> stamps, Tally& tally) {
        std::vector<std::uint32_t> left;
        for (const Stamp& stamp : stamps)
          left.push_back(static_cast<std::uint32_t>(stamp.result));
        compare(
            numbers_in(bytes, variant.operation, words), left,
            [&](std::size_t core) { return operations_of(stamps[core]); }, tally);
      };
    };
    slope.verify = verify_by(comparison(variant.operation, alone ? 1 : in_flight, places));
    slope.work_done = operations_done;
    if (!alone) continue;
    Slope altered = slope;
    altered.verify = verify_by(chained(variant.operation, /*chains=*/1, places));
    Dependence dependence{"words and results of altered operands", Tally{}};
    zero = altered_zero;
    (void)launch_once(machine, altered, {.length = {.rounds = turn, .work = 1}},
                      *dependence.altered);
    zero = 0;
    experiment.checks.emplace_back(dependence);
  }
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::atomics
