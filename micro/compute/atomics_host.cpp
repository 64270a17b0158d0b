// Cores add to a word as plain code does, through std::atomic_ref. On x86-64 that compiles to `lock
// xadd`, to `lock add` where nothing is returned, to `xchg` and to `lock cmpxchg`, as the
// disassembly shows. Each of them orders all memory accesses around it whatever order was asked
// for, so only relaxed operations are timed. There is no addition of floats: it is a loop of a
// load, an addition and a compare and swap, whose cost under contention is that of the loop.
//
// All cores continue until the first of them has done its operations: where one core gets at the
// word more often than another, none is left to finish alone and uncontended. The operations of
// each core are counted, and the words must agree with the counts.
//
// Inside the latency that is not the atomic: an AND and an OR, which tie the operand to the
// returned value (floats move to other registers for that, and back; exchanges need none of it).
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "micro/compute/atomics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace strata::atomics {
namespace {

/// Operations between two looks at whether somebody has finished.
constexpr std::uint64_t turn = std::uint64_t{8} * unroll;

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

/// What a core did, and what its chains hold at the end.
struct CoreResult {
  std::uint64_t operations = 0;
  std::uint32_t left = 0;
};
/// Both as the result of a stamp.
std::uint64_t packed(const CoreResult& result) {
  return result.operations << 32U | result.left;
}
CoreResult unpacked(std::uint64_t result) {
  return {.operations = result >> 32U, .left = static_cast<std::uint32_t>(result)};
}

/// What a core is to do.
struct Job {
  void* word = nullptr;
  std::uint32_t core = 0;
  std::uint64_t operations = 0;  ///< unless another core is done before
  std::uint64_t zero = 0;        ///< 0, which the compiler does not know
  std::atomic<bool>* finished = nullptr;
};

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

/// One chain of a core, each operation of which waits for what the one before it returned; or as
/// many as go side by side. Each chain is a variable of its own: of an array the compiler keeps two
/// elements in a register and takes them apart at every step.
template <Operation operation, bool returns, bool alone>
CoreResult repeat(const Job& job) {
  static_assert(unroll == 8 && in_flight == 4);
  auto& word = *static_cast<Word<operation>*>(job.word);
  const auto zero = static_cast<Word<operation>>(job.zero);
  const std::uint64_t operations = job.operations;
  std::atomic<bool>& finished = *job.finished;
  Held<operation> first{operand_of(operation, job.core, 0)};
  Held<operation> second{operand_of(operation, job.core, 1)};
  Held<operation> third{operand_of(operation, job.core, 2)};
  Held<operation> fourth{operand_of(operation, job.core, 3)};
  CoreResult result;
  while (result.operations < operations && !finished.load(std::memory_order_relaxed)) {
#pragma GCC unroll 1
    for (std::uint64_t i = 0; i < turn; i += unroll) {
#pragma GCC unroll 2
      for (std::uint32_t half = 0; half < 2; ++half) {
        first.template step<returns>(word, zero);
        (alone ? first : second).template step<returns>(word, zero);
        (alone ? first : third).template step<returns>(word, zero);
        (alone ? first : fourth).template step<returns>(word, zero);
      }
    }
    result.operations += turn;
  }
  finished.store(true, std::memory_order_relaxed);
  result.left = first.left();
  if constexpr (!alone) result.left += second.left() + third.left() + fourth.left();
  return result;
}

struct Code {
  CoreResult (*work)(const Job&);
  void (*lay)(std::byte*, std::size_t);
};

/// The loop of one chain where `alone`, else of several, and what lays its words.
Code code_for(const Variant& variant, bool alone) {
  using enum Operation;
  return with_value<add_int, add_float, add_int64, cas_int, exch_int>(
      variant.operation, [&]<Operation operation>() {
        return with_value<true, false>(variant.returns, [&]<bool returns>() -> Code {
          constexpr Variant one{
              .space = StateSpace::global, .operation = operation, .returns = returns};
          if constexpr (why_not(one, Backend::host) == nullptr) {
            return {alone ? repeat<operation, returns, true> : repeat<operation, returns, false>,
                    [](std::byte* area, std::size_t words) {
                      for (std::size_t i = 0; i < words; ++i) {
                        const auto word = word_of<operation>(
                            initial_word(operation, static_cast<std::uint32_t>(i)));
                        std::memcpy(area + i * sizeof word, &word, sizeof word);
                      }
                    }};
          }
          throw std::logic_error{"atomics: a case without a loop"};
        });
      });
}

/// The words that some cores want, and the loop that they want them in.
class Contest {
 public:
  Contest(const Variant& variant, std::size_t cores, bool alone)
      : variant_{variant},
        code_{code_for(variant, alone)},
        cores_{cores},
        words_{area_words(variant, cores)},
        area_(words_ * width_of(variant.operation) / core_pitch),
        expected_{Expected::of_cores(variant, cores, alone ? 1 : in_flight)} {}

  void lay() {
    code_.lay(bytes(), words_);
    finished_->value.store(false, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t work(std::size_t rank, const Call& call) {
    return packed(
        code_.work({.word = bytes() + word_of_core(variant_, rank) * width_of(variant_.operation),
                    .core = static_cast<std::uint32_t>(rank),
                    .operations = call.length.rounds,
                    .zero = zero_,
                    .finished = &finished_->value}));
  }

  void verify(std::span<const Stamp> stamps, Tally& tally) const {
    std::vector<std::uint32_t> left;
    for (const Stamp& stamp : stamps)
      left.push_back(unpacked(stamp.result).left);
    expected_.compare(
        numbers_in(area_.data(), variant_.operation, words_), left,
        [&](std::size_t core) { return unpacked(stamps[core].result).operations; }, tally);
  }

  /// By two trials: the first fetches the code, the second says how many operations fill the time.
  [[nodiscard]] Lengths decide(const std::function<Launched(const Length&)>& run) const {
    constexpr double timed_seconds =
        2e-4;                           // of a long run: shorter than the time between interrupts
    constexpr std::uint32_t parts = 5;  // the short run has one of these
    constexpr Length trial{.rounds = 32 * turn};
    (void)run(trial);
    const Launched second = run(trial);
    const double each = second.seconds / second.length.work;
    // Of a counter that some cores share, by additions of 1 or 2.
    const std::uint64_t sharers = variant_.target == Target::same ? cores_ : 1;
    const std::uint64_t most = variant_.operation == Operation::add_float
                                   ? (exact_floats - 4) / (2 * sharers)
                                   : ~std::uint32_t{0};
    const auto wanted = static_cast<std::uint64_t>(timed_seconds / each);
    const auto brief = static_cast<std::uint32_t>(
        std::max(std::min(wanted, most) / parts / turn, std::uint64_t{1}) * turn);
    return {.brief = {.rounds = brief, .work = double{1} * brief},
            .full = {.rounds = parts * brief, .work = double{parts} * brief}};
  }

 private:
  struct alignas(core_pitch) Lines {
    std::array<std::byte, core_pitch> bytes{};
  };
  struct alignas(core_pitch) Finished {
    std::atomic<bool> value{false};
  };
  [[nodiscard]] std::byte* bytes() { return area_.front().bytes.data(); }

  Variant variant_;
  Code code_;
  std::size_t cores_;
  std::size_t words_;
  std::vector<Lines> area_;
  Expected expected_;
  std::unique_ptr<Finished> finished_ = std::make_unique<Finished>();  // on a line of its own
  volatile std::uint64_t zero_ = 0;
};

/// The mean of the cores.
double operations_done(std::span<const Stamp> stamps) {
  double all = 0;
  for (const Stamp& stamp : stamps)
    all += static_cast<double>(unpacked(stamp.result).operations);
  return all / static_cast<double>(stamps.size());
}

void run(Session& session) {
  const Variant variant = variant_of(session.params());
  const auto cpus = allowed_cpus();
  Experiment experiment = describe_host(variant, cpus.size());
  require_timed(session, experiment);
  HostMachine machine{cpus};
  Contest lone{variant, 1, /*alone=*/true};
  Contest all{variant, cpus.size(), /*alone=*/false};
  for (Slope& slope : experiment.slopes) {
    const bool last = &slope == &experiment.slopes.back();
    Contest& contest = last ? all : lone;
    const HostMachine::Work work = [&](std::size_t rank, const Call& call) {
      return contest.work(rank, call);
    };
    slope.prepare = [&](const Call&) { contest.lay(); };
    slope.launch = last ? machine.on_every_core(work) : machine.on_first_core(work);
    slope.verify = [&](const Call&, std::span<const Stamp> stamps, Tally& tally) {
      contest.verify(stamps, tally);
    };
    slope.work_done = operations_done;
    slope.size = [&](const auto& trial) { return contest.decide(trial); };
  }
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::atomics
