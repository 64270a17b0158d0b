// Cores use std::atomic_ref. On x86-64 it compiles to `lock xadd`, `lock add` where nothing is
// returned, `xchg` and `lock cmpxchg`, as the disassembly shows. Each orders all memory accesses
// around it anyway, so only relaxed operations are timed. Additions of floats are a loop of a load,
// an addition and a compare and swap. Inside the latency that is not the atomic: an AND and an OR,
// which tie the operand to the returned value.
//
// All cores continue until the first of them has done its operations, so that none finishes alone
// and uncontended. The words must agree with the operations that each core counted.
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "micro/compute/atomics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <stdexcept>

namespace strata::atomics {
namespace {

/// The old value of the word, which `operand` is added to, put into, or compared with.
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
    // The word at `at` may be another one now: no two operations can be made one. And no count of
    // wins can be put off.
    asm volatile("" : "+r"(wins) : : "memory");
  }
  [[nodiscard]] std::uint32_t left() const {
    if constexpr (operation == Operation::cas_int) return wins;
    if constexpr (operation == Operation::exch_int) return hashed_word(word);
    return static_cast<std::uint32_t>(number_of(operation, word));
  }
};

/// A stamp's result: the operations that a core did, and what its chains hold at the end.
constexpr unsigned half = 32;
std::uint64_t operations_of(const Stamp& stamp) {
  return stamp.result >> half;
}
std::uint32_t left_of(const Stamp& stamp) {
  return static_cast<std::uint32_t>(stamp.result);
}

/// What a core is to do.
struct Job {
  void* word = nullptr;
  std::uint32_t core = 0;
  std::uint64_t operations = 0;  ///< unless another core is done before
  std::uint64_t zero = 0;        ///< 0, which the compiler does not know
  std::atomic<bool>* finished = nullptr;
};

/// One chain of a core, each operation of which waits for what the one before it returned; or as
/// many as go side by side. Each chain is a variable of its own: of an array the compiler keeps two
/// elements in a register and takes them apart at every step.
template <Operation operation, bool returns, bool alone>
std::uint64_t repeat(const Job& job) {
  static_assert(unroll == 8 && in_flight == 4);
  auto& word = *static_cast<Word<operation>*>(job.word);
  const auto zero = static_cast<Word<operation>>(job.zero);
  const std::uint64_t operations = job.operations;
  std::atomic<bool>& finished = *job.finished;
  Held<operation> first{operand_of(operation, job.core, 0)};
  Held<operation> second{operand_of(operation, job.core, 1)};
  Held<operation> third{operand_of(operation, job.core, 2)};
  Held<operation> fourth{operand_of(operation, job.core, 3)};
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

using Loop = std::uint64_t (*)(const Job&);

/// The loop of one chain where `alone`, else of several.
Loop loop_for(const Variant& variant, bool alone) {
  using enum Operation;
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

/// Alone on its lines.
struct alignas(core_pitch) Lines {
  std::array<std::byte, core_pitch> bytes{};
};
struct alignas(core_pitch) Finished {
  std::atomic<bool> value{false};
};

/// The mean of the cores.
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
  std::vector<Lines> area(Places::of_cores(variant, cpus.size()).words * width / core_pitch);
  std::byte* const bytes = area.front().bytes.data();
  Finished finished;
  volatile std::uint64_t zero = 0;
  for (Slope& slope : experiment.slopes) {
    const bool alone = &slope != &experiment.slopes.back();
    const Loop loop = loop_for(variant, alone);
    const Places places = Places::of_cores(variant, alone ? 1 : cpus.size());
    const HostMachine::Work work = [&, loop, places](std::size_t rank, const Call& call) {
      return loop({.word = bytes + places.target[rank] * width,
                   .core = static_cast<std::uint32_t>(rank),
                   .operations = call.length.rounds,
                   .zero = zero,
                   .finished = &finished.value});
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
      std::ranges::transform(stamps, std::back_inserter(left), left_of);
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
