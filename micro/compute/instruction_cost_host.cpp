// The host backend of instruction_cost: instruction_cost.hpp says what it asks.
//
// One core, the first, runs chains of scalar instructions: one chain for the latency, ten side by
// side for the rate. A CPU's clock moves as it likes and its counter (TSC) does not move with it,
// so beside every pair of runs goes one of dependent additions, which take a cycle each: cycles of
// the core are told by them, and what the clock did in between cancels.
#include "harness/case/error.hpp"
#include "harness/cpu/pin.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/compute/host_operations.hpp"
#include "micro/compute/instruction_cost.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::instruction_cost {
namespace {

#if defined(__x86_64__)

using host_operations::Iadd;

constexpr double timed_seconds = 1e-4;  // of a long run beyond a short one: a tenth of a tick
constexpr int pairs = 5;  // of runs in a sample, of which the median counts: most meet no interrupt
constexpr std::uint64_t parts = 5;  // the short run has one of these

/// The chains of some operation, whichever it is.
class AnyChains {
 public:
  AnyChains() = default;
  AnyChains(const AnyChains&) = delete;
  AnyChains& operator=(const AnyChains&) = delete;
  AnyChains(AnyChains&&) = delete;
  AnyChains& operator=(AnyChains&&) = delete;
  virtual ~AnyChains() = default;

  /// So many turns of the loop, from the start.
  virtual void run(std::uint64_t turns) = 0;
  /// Walks on the host through what so many turns must come to.
  virtual void expect(std::uint64_t turns) = 0;
  /// The ends of the last run, which had so many.
  virtual void check(std::uint64_t turns, operations::Checked& checked) const = 0;
};

template <class Op>
class ChainsOf final : public AnyChains {
 public:
  explicit ChainsOf(unsigned ilp) : ilp_{ilp} {}

  void run(std::uint64_t turns) override {
    for (std::uint32_t c = 0; c < ilp_; ++c)
      x_[c] = host_operations::start_of<Op>(c);
    switch (ilp_) {
      case 1:
        return Op::template run<1>(x_, of_, turns);
      case 4:
        return Op::template run<4>(x_, of_, turns);
      case max_host_ilp:
        return Op::template run<max_host_ilp>(x_, of_, turns);
      default:
        throw std::invalid_argument{"no kernel for that many chains"};
    }
  }
  void expect(std::uint64_t turns) override {
    for (std::uint32_t c = 0; c < ilp_; ++c)
      wanted_[turns][c] = host_operations::expected_end<Op>(c, turns);
  }
  void check(std::uint64_t turns, operations::Checked& checked) const override {
    const auto& wanted = wanted_.at(turns);
    for (std::uint32_t c = 0; c < ilp_; ++c)
      checked.one(operations::bits(x_[c]) == operations::bits(wanted[c]));
  }

 private:
  unsigned ilp_;
  operations::Operands<typename Op::Word> of_ = Op::operands(0);
  host_operations::Words<typename Op::Word> x_{};
  std::map<std::uint64_t, host_operations::Words<typename Op::Word>> wanted_;
};

/// What a run took, by both clocks.
struct Span {
  double ticks = 0;
  double seconds = 0;
};

/// One operation, timed: long runs, short runs, and their ends.
class TimedChains {
 public:
  TimedChains(std::unique_ptr<AnyChains> chains, unsigned ilp, double seconds)
      : chains_{std::move(chains)}, ilp_{ilp} {
    // The first run fetches the code; the least of some is what one takes undisturbed.
    constexpr std::uint64_t trial = 128;
    constexpr int trials = 5;
    double least = 1;
    for (int i = 0; i < trials; ++i)
      least = std::min(least, time(trial).seconds / trial);
    brief_ = static_cast<std::uint64_t>(std::max(seconds / least / (parts - 1), 1.0));
    full_ = parts * brief_;
    chains_->expect(brief_);
    chains_->expect(full_);
  }

  /// What one operation takes.
  Span pair() {
    const Span brief = time(brief_);
    chains_->check(brief_, checked_);
    const Span full = time(full_);
    chains_->check(full_, checked_);
    last_hertz_ = full.ticks / full.seconds;
    const auto slope = static_cast<double>(operations_of(full_ - brief_));
    return {.ticks = (full.ticks - brief.ticks) / slope,
            .seconds = (full.seconds - brief.seconds) / slope};
  }

  [[nodiscard]] double last_hertz() const { return last_hertz_; }
  [[nodiscard]] const operations::Checked& checked() const { return checked_; }
  [[nodiscard]] std::uint64_t operations_of_full() const { return operations_of(full_); }

 private:
  [[nodiscard]] std::uint64_t operations_of(std::uint64_t turns) const {
    return turns * host_operations::steps * ilp_;
  }

  Span time(std::uint64_t turns) {
    const double began = monotonic_raw_seconds();
    const std::uint64_t start = tsc_now();
    chains_->run(turns);
    const std::uint64_t stop = tsc_now();
    const double ended = monotonic_raw_seconds();
    return {.ticks = static_cast<double>(stop - start), .seconds = ended - began};
  }

  std::unique_ptr<AnyChains> chains_;
  unsigned ilp_;
  std::uint64_t brief_ = 1;
  std::uint64_t full_ = parts;
  double last_hertz_ = 0;
  operations::Checked checked_;
};

/// What one sample showed; all of one operation.
struct HostObservation {
  double ticks = 0;
  double ticks_outside = 0;  ///< by the clock of the system
  double cycles = 0;         ///< of the core
  double seconds = 0;
  double tick_hertz = 0;
  double core_hertz = 0;
};

/// The subject of the protocol.
class Subject {
 public:
  Subject(std::unique_ptr<AnyChains> chains, unsigned ilp)
      : timed_{std::move(chains), ilp, timed_seconds},
        additions_{std::make_unique<ChainsOf<Iadd>>(1), 1, timed_seconds / 2} {}

  void prepare() {}

  HostObservation observe() {
    std::vector<HostObservation> several(pairs);
    for (HostObservation& one : several) {
      const Span add = additions_.pair();
      const Span own = timed_.pair();
      one = {.ticks = own.ticks,
             .ticks_outside = own.seconds * tsc_hertz(),
             .cycles = own.ticks / add.ticks,
             .seconds = own.seconds,
             .tick_hertz = timed_.last_hertz(),
             .core_hertz = 1 / add.seconds};
    }
    return median_record(several, &HostObservation::ticks, &HostObservation::ticks_outside,
                         &HostObservation::cycles, &HostObservation::seconds,
                         &HostObservation::tick_hertz, &HostObservation::core_hertz);
  }

  [[nodiscard]] static std::vector<double> watched(const HostObservation& seen) {
    return {seen.ticks, seen.ticks_outside, seen.cycles};
  }
  [[nodiscard]] const TimedChains& timed() const { return timed_; }
  [[nodiscard]] const TimedChains& additions() const { return additions_; }

 private:
  TimedChains timed_;
  TimedChains additions_;
};

void report_host(Session& session, const Collection<HostObservation>& seen) {
  const Timed timed{session, seen};
  timed.add("operation_cycles", "tsc_cycle", "tsc_slope", &HostObservation::ticks);
  timed.add("operation_cycles", "tsc_cycle", "monotonic_slope", &HostObservation::ticks_outside);
  timed.add("operation_core_cycles", "cycle", "over_dependent_adds", &HostObservation::cycles);
  timed.add("operation_time", "s", "monotonic_slope", &HostObservation::seconds);
  timed.add("operation_throughput", "operation/cycle", "over_dependent_adds",
            [](const HostObservation& o) { return 1 / o.cycles; });
  timed.add("operation_rate", "1/s", "monotonic_slope",
            [](const HostObservation& o) { return 1 / o.seconds; });
  timed.core_clock("tsc_over_monotonic", &HostObservation::tick_hertz);
  timed.add("core_clock", "Hz", "dependent_adds", &HostObservation::core_hertz);
  timed.timers(&HostObservation::ticks, "tsc_slope", &HostObservation::ticks_outside,
               "monotonic_slope");
}

struct Named {
  std::string_view instructions;
  std::unique_ptr<AnyChains> chains;
};

template <class Op>
Named named(unsigned ilp) {
  return {.instructions = Op::instructions, .chains = std::make_unique<ChainsOf<Op>>(ilp)};
}

template <class... Each>
Named chains_of(std::string_view name, unsigned ilp, operations::List<Each...> /*all*/) {
  Named found;
  (void)((Each::name == name && (found = named<Each>(ilp), true)) || ...);
  if (!found.chains) throw std::invalid_argument{"no operation of that name"};
  return found;
}

void run(Session& session) {
  if (!__builtin_cpu_supports("avx") || !__builtin_cpu_supports("fma")) {
    throw Skipped{"the CPU lacks AVX or fused multiply-adds"};
  }
  const Pin pin{allowed_cpus().front()};
  const auto ilp = static_cast<unsigned>(session.integer("ilp"));
  Named operation = chains_of(session.param("operation"), ilp, host_operations::Operations{});
  Subject subject{std::move(operation.chains), ilp};
  const auto seen = collect(subject, session.plan());
  report_host(session, seen);
  const operations::Checked& own = subject.timed().checked();
  const operations::Checked& adds = subject.additions().checked();
  session.add(result_gate(own.words + adds.words, own.different + adds.different,
                          "ends of chains, of the additions beside them too"));
  session.fact("instructions", std::string{operation.instructions});
  session.fact("operations_of_long_run",
               static_cast<std::int64_t>(subject.timed().operations_of_full()));
}

#else

void run(Session& /*session*/) {
  throw Skipped{"the instructions are written for x86-64"};
}

#endif

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::instruction_cost
