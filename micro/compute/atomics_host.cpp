// The host backend of atomics: atomics.hpp says what it asks.
//
// Cores add to a word as plain code does, by std::atomic_ref. What that compiles to on x86-64, by
// the disassembler: `lock xadd`, `lock add` where nothing is returned, `xchg`, `lock cmpxchg`. Each
// of them orders all memory accesses around it whatever the order that was asked for, so relaxed is
// the only one that is timed. There is no addition of floats: it is a loop of a load, an addition
// and a compare and swap, whose cost under contention is that of the loop.
//
// All cores go on until the first of them has done its operations. Where one gets at the word more
// often than another, nobody is left to finish alone, with nobody in the way. What each did is
// counted, and the words must come to it.
//
// Inside the latency that is not the atomic: an AND and an OR, which tie the operand to the value
// that was returned (floats move to other registers for that, and back; exchanges need none of it).
#include "micro/compute/atomics_host.hpp"

#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace strata::atomics {
namespace {

constexpr double timed_seconds = 2e-4;  // of a long run: shorter than the time between interrupts
constexpr int pairs = 11;  // of runs in a sample, of which the median counts: most meet none
constexpr std::uint64_t parts = 5;  // the short run has one of these
/// Operations between two looks at whether somebody has finished.
constexpr std::uint64_t turn = std::uint64_t{8} * unroll;
constexpr std::uint64_t poison = 0xA5A5A5A5A5A5A5A5U;

std::uint64_t mask_of(Operation operation) {
  return operation == Operation::add_int64 ? ~std::uint64_t{0} : 0xFFFFFFFFU;
}

template <Operation operation>
using Word = std::conditional_t<operation == Operation::add_int64, std::uint64_t, std::uint32_t>;

/// A number as the words of an operation hold it.
template <Operation operation>
Word<operation> bits_of(std::uint64_t number) {
  if constexpr (operation == Operation::add_float) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  } else {
    return static_cast<Word<operation>>(number);
  }
}

/// The number of such a word; of a float that is no whole number, one that nothing comes to.
template <Operation operation>
std::uint64_t number_of(Word<operation> bits) {
  if constexpr (operation == Operation::add_float) {
    const auto value = std::bit_cast<float>(bits);
    const bool whole = value >= 0 && value < exact_floats && value == std::floor(value);
    return whole ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0};
  } else {
    return bits;
  }
}

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

  explicit Held(std::uint64_t number) : operand{bits_of<operation>(number)}, word{operand} {}

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
    return static_cast<std::uint32_t>(number_of<operation>(word));
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

/// The loops of a case; `set` and `get` put numbers into the words of the area and take them out.
struct Code {
  using Work = CoreResult (*)(const Job&);
  Work chain = nullptr;
  Work many = nullptr;
  void (*set)(std::byte*, std::size_t) = nullptr;
  std::uint64_t (*get)(const std::byte*, std::size_t) = nullptr;
};

template <Operation operation>
Code code_of(bool returns) {
  Code code;
  if (returns) {
    code.chain = repeat<operation, true, true>;
    code.many = repeat<operation, true, false>;
  } else if constexpr (operation == Operation::add_int || operation == Operation::add_int64) {
    code.many = repeat<operation, false, false>;
  } else {
    throw std::logic_error{"no such operation returns nothing"};
  }
  code.set = [](std::byte* area, std::size_t index) {
    const auto bits =
        bits_of<operation>(initial_word(operation, static_cast<std::uint32_t>(index)));
    std::memcpy(area + index * sizeof bits, &bits, sizeof bits);
  };
  code.get = [](const std::byte* area, std::size_t index) {
    Word<operation> bits{};
    std::memcpy(&bits, area + index * sizeof bits, sizeof bits);
    return number_of<operation>(bits);
  };
  return code;
}

Code code_for(const Kind& kind) {
  switch (kind.operation) {
    case Operation::add_int:
      return code_of<Operation::add_int>(kind.returns);
    case Operation::add_float:
      return code_of<Operation::add_float>(kind.returns);
    case Operation::add_int64:
      return code_of<Operation::add_int64>(kind.returns);
    case Operation::cas_int:
      return code_of<Operation::cas_int>(kind.returns);
    case Operation::exch_int:
      break;
  }
  return code_of<Operation::exch_int>(kind.returns);
}

/// What pairs of runs, short and long, showed.
struct HostObservation {
  double chain_inside = 0;   ///< ticks of an operation of a core alone, by its counter
  double chain_outside = 0;  ///< the same by the clock of the system
  double inside = 0;   ///< ticks of an operation of a core among all, by the slowest's counter
  double outside = 0;  ///< the same by the clock of the system
  double operations_per_second = 0;  ///< of all cores
  double tick_hertz = 0;
};

/// Some cores and the words that they want.
class Cores {
 public:
  /// What a run took and brought about.
  struct Run {
    double ticks = 0;  ///< of the slowest core
    double seconds = 0;
    double operations = 0;  ///< of all cores
    double tick_hertz = 0;
  };
  /// Of one operation of a core, while the others are at it too.
  struct Slope {
    double ticks = 0;
    double seconds = 0;
    double tick_hertz = 0;
  };

  Cores(const Kind& kind, const Code& code, std::uint32_t chains, const std::vector<int>& cpus)
      : kind_{kind},
        code_{code},
        work_{chains == 1 ? code.chain : code.many},
        chains_{chains},
        team_{cpus},
        members_(cpus.size()),
        words_(area_words(kind, cpus.size())),
        area_((words_.size() * width_of(kind.operation)) / core_pitch) {
    // The first run fetches the code; the second says how many operations fill the time.
    constexpr std::uint64_t trial = 32 * turn;
    (void)run(trial);
    const Run second = run(trial);
    const double each = second.seconds * static_cast<double>(cpus.size()) / second.operations;
    // Of a counter that some cores share, by additions of 1 or 2.
    const std::uint64_t sharers = kind.target == Target::same ? cpus.size() : 1;
    const std::uint64_t most = kind.operation == Operation::add_float
                                   ? (exact_floats - 4) / (2 * sharers)
                                   : ~std::uint32_t{0};
    const auto wanted = static_cast<std::uint64_t>(timed_seconds / each);
    brief_ = std::max(std::min(wanted, most) / parts / turn, std::uint64_t{1}) * turn;
  }

  /// What one operation takes.
  Slope slope() {
    const Run brief = run(brief_);
    const Run full = run(parts * brief_);
    // A core that was sent away in the long run may have left less there than in the short one.
    const double more = std::max(full.operations - brief.operations, 1.0);
    const double each = static_cast<double>(members_.size()) / more;
    return {.ticks = (full.ticks - brief.ticks) * each,
            .seconds = (full.seconds - brief.seconds) * each,
            .tick_hertz = full.tick_hertz};
  }

  [[nodiscard]] std::uint64_t operations() const { return parts * brief_; }
  [[nodiscard]] std::size_t checked() const { return checked_; }
  [[nodiscard]] std::size_t wrong() const { return wrong_; }

 private:
  /// What one core saw, on cache lines of its own.
  struct alignas(core_pitch) Member {
    CoreResult result;
    std::uint64_t ticks = 0;
    double seconds = 0;
  };
  struct alignas(core_pitch) Lines {
    std::array<std::byte, core_pitch> bytes{};
  };
  struct alignas(core_pitch) Finished {
    std::atomic<bool> value{false};
  };

  Run run(std::uint64_t operations) {
    std::byte* const area = area_.front().bytes.data();
    for (std::size_t i = 0; i < words_.size(); ++i)
      code_.set(area, i);
    for (Member& member : members_)
      member.result = {.operations = poison, .left = static_cast<std::uint32_t>(poison)};
    finished_->value.store(false, std::memory_order_relaxed);
    const double seconds = team_.run([&](std::size_t rank) {
      Member& member = members_[rank];
      const Job job{.word = area + word_of_core(kind_, rank) * width_of(kind_.operation),
                    .core = static_cast<std::uint32_t>(rank),
                    .operations = operations,
                    .zero = zero_,
                    .finished = &finished_->value};
      const double began = monotonic_raw_seconds();
      const std::uint64_t start = tsc_now();
      member.result = work_(job);
      member.ticks = tsc_now() - start;
      member.seconds = monotonic_raw_seconds() - began;
    });
    check();
    return seen(seconds);
  }

  [[nodiscard]] Run seen(double seconds) const {
    Run run{.seconds = seconds};
    for (const Member& member : members_) {
      run.ticks = std::max(run.ticks, static_cast<double>(member.ticks));
      run.operations += static_cast<double>(member.result.operations);
    }
    run.tick_hertz = static_cast<double>(members_.front().ticks) / members_.front().seconds;
    return run;
  }

  void check() {
    const std::byte* const area = area_.front().bytes.data();
    for (std::size_t i = 0; i < words_.size(); ++i)
      words_[i] = code_.get(area, i);
    std::vector<CoreResult> results;
    results.reserve(members_.size());
    for (const Member& member : members_)
      results.push_back(member.result);
    const Compared compared = compare(kind_, chains_, words_, results);
    checked_ += compared.checked;
    wrong_ += compared.different;
  }

  Kind kind_;
  Code code_;
  Code::Work work_;
  std::uint32_t chains_;
  ThreadTeam team_;
  std::vector<Member> members_;
  std::vector<std::uint64_t> words_;  // of the area, as numbers
  std::vector<Lines> area_;
  std::unique_ptr<Finished> finished_ = std::make_unique<Finished>();  // on a line of its own
  volatile std::uint64_t zero_ = 0;
  std::uint64_t brief_ = turn;
  std::size_t checked_ = 0;
  std::size_t wrong_ = 0;
};

/// The subject of the protocol.
class Atomics {
 public:
  Atomics(const Kind& kind, const std::vector<int>& cpus)
      : kind_{kind}, many_{kind, code_for(kind), in_flight, cpus}, cores_{cpus.size()} {
    if (kind.returns) {
      alone_ = std::make_unique<Cores>(kind, code_for(kind), 1, std::vector<int>{cpus.front()});
    }
  }

  void prepare() {}  // each run has its own preparation, right before it

  HostObservation observe() {
    std::vector<HostObservation> several(pairs);
    for (HostObservation& one : several) {
      if (alone_) {
        const Cores::Slope chain = alone_->slope();
        one.chain_inside = chain.ticks;
        one.chain_outside = chain.seconds * tsc_hertz();
      }
      const Cores::Slope many = many_.slope();
      one.inside = many.ticks;
      one.outside = many.seconds * tsc_hertz();
      one.operations_per_second = static_cast<double>(cores_) / many.seconds;
      one.tick_hertz = many.tick_hertz;
    }
    return median_record(several, &HostObservation::chain_inside, &HostObservation::chain_outside,
                         &HostObservation::inside, &HostObservation::outside,
                         &HostObservation::operations_per_second, &HostObservation::tick_hertz);
  }

  [[nodiscard]] std::vector<double> watched(const HostObservation& seen) const {
    std::vector<double> numbers{seen.inside, seen.outside};
    if (kind_.returns) {
      numbers.push_back(seen.chain_inside);
      numbers.push_back(seen.chain_outside);
    }
    return numbers;
  }

  [[nodiscard]] Gate result() const {
    const std::size_t checked = many_.checked() + (alone_ ? alone_->checked() : 0);
    const std::size_t wrong = many_.wrong() + (alone_ ? alone_->wrong() : 0);
    return result_gate(checked, wrong, "words and what cores hold against what they did");
  }
  [[nodiscard]] std::uint64_t operations() const { return many_.operations(); }

 private:
  Kind kind_;
  Cores many_;
  std::unique_ptr<Cores> alone_;
  std::size_t cores_;
};

}  // namespace

std::size_t word_of_core(const Kind& kind, std::size_t core) {
  switch (kind.target) {
    case Target::same:
      return 0;
    case Target::line:
      return core;
    case Target::disjoint:
      return core * (core_pitch / width_of(kind.operation));
    case Target::warp:
      break;
  }
  throw std::logic_error{"a target that no core has"};
}

std::size_t area_words(const Kind& kind, std::size_t cores) {
  const std::size_t lines = core_pitch / width_of(kind.operation);
  return (word_of_core(kind, cores - 1) / lines + 1) * lines;
}

namespace {

/// What words hold before anything happens; of exchanges, the hashes of that.
std::vector<std::uint64_t> first_words(Operation operation, std::size_t count) {
  std::vector<std::uint64_t> words(count);
  for (std::size_t i = 0; i < count; ++i) {
    words[i] = initial_word(operation, static_cast<std::uint32_t>(i));
    if (operation == Operation::exch_int)
      words[i] = hashed_word(static_cast<std::uint32_t>(words[i]));
  }
  return words;
}

/// What the chains of a core bring along: the sum of it, and of its hashes.
struct Brought {
  std::uint64_t sum = 0;
  std::uint32_t hashes = 0;
};
Brought brought_by(Operation operation, std::size_t core, std::uint32_t chains) {
  Brought all;
  for (std::uint32_t chain = 0; chain < chains; ++chain) {
    const std::uint64_t operand = operand_of(operation, static_cast<std::uint32_t>(core), chain);
    all.sum += operand;
    all.hashes += hashed_word(static_cast<std::uint32_t>(operand));
  }
  return all;
}

}  // namespace

Compared compare(const Kind& kind, std::uint32_t chains, std::span<const std::uint64_t> words,
                 std::span<const CoreResult> cores) {
  const Operation operation = kind.operation;
  Compared compared;
  const auto expect = [&compared](std::uint64_t found, std::uint64_t wanted) {
    ++compared.checked;
    compared.different += found == wanted ? 0 : 1;
  };
  std::vector<std::uint64_t> wanted = first_words(operation, words.size());
  for (std::size_t core = 0; core < cores.size(); ++core) {
    const CoreResult& done = cores[core];
    const Brought brought = brought_by(operation, core, chains);
    std::uint64_t& word = wanted[word_of_core(kind, core)];
    if (is_addition(operation)) {
      word += done.operations / chains * brought.sum;
      expect(done.left, static_cast<std::uint32_t>(brought.sum));
    } else if (operation == Operation::exch_int) {
      // All values are somewhere: what a core holds does not lie in its word.
      word += brought.hashes;
      word -= done.left;
    } else {
      word += std::uint64_t{done.left} * swap_step;
      // Alone it tries, loses, and wins with what the word turned out to be.
      if (cores.size() == 1 && chains == 1) expect(done.left, done.operations / 2);
    }
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t found = operation == Operation::exch_int
                                    ? hashed_word(static_cast<std::uint32_t>(words[i]))
                                    : words[i];
    expect(found, wanted[i] & mask_of(operation));
  }
  return compared;
}

namespace {

void report_host(Session& session, const Collection<HostObservation>& seen, const Kind& kind) {
  const Timed timed{session, seen};
  const auto both = [&](const std::string& quantity, auto inside, auto outside) {
    timed.add(quantity, "tsc_cycle", "tsc_slope", inside);
    timed.add(quantity, "tsc_cycle", "monotonic_slope", outside);
    timed.timers(inside, "tsc_slope", outside, "monotonic_slope");
  };
  if (kind.returns) {
    both("atomic_latency", &HostObservation::chain_inside, &HostObservation::chain_outside);
  }
  both("core_atomic_cycles", &HostObservation::inside, &HostObservation::outside);
  timed.add("atomics_per_cycle", "1/tsc_cycle", "tsc_slope",
            [](const HostObservation& o) { return 1 / o.inside; });
  timed.add("atomic_rate", "1/s", "monotonic_slope", &HostObservation::operations_per_second);
  timed.core_clock("tsc_over_monotonic", &HostObservation::tick_hertz);
}

void run(Session& session) {
  const Kind kind = kind_of(session);
  const auto cpus = allowed_cpus();
  Atomics atomics{kind, cpus};
  const auto seen = collect(atomics, session.plan());
  report_host(session, seen, kind);
  session.add(atomics.result());
  session.fact("operations", static_cast<std::int64_t>(atomics.operations()));
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::atomics
