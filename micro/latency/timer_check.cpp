// The declaration of timer_check, and its host backend: timer_check.hpp says what it asks.
#include "micro/latency/timer_check.hpp"

#include "harness/cpu/tsc.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/record/gates.hpp"
#include "micro/pattern/random_cycle.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace strata::timer_check {
namespace {

/// A slot of the chain on the host, 8 bytes wide there: an address.
struct Slot {
  const Slot* next = nullptr;
};

/// Follows the chain for `loads` loads. Nothing can be skipped: the end depends on every load, and
/// the asm hides from the compiler that the chain is only read.
[[gnu::noinline]] const Slot* follow(const Slot* at, std::uint64_t loads) {
  constexpr std::uint64_t unroll = 16;
  for (std::uint64_t i = 0; i < loads; i += unroll) {
#pragma GCC unroll 16
    for (std::uint64_t u = 0; u < unroll; ++u)
      at = at->next;
  }
  asm volatile("" : "+r"(at) : : "memory");
  return at;
}

class Chain {
 public:
  Chain() : slots_(slots), order_{random_order(slots, /*seed=*/4)} {
    for (unsigned p = 0; p < slots; ++p) {
      slots_[order_[p]].next = &slots_[order_[(p + 1) % slots]];
    }
  }

  void prepare() { check(follow(first(), slots), slots); }

  Observation observe() {
    const double hertz = tsc_hertz();
    Walk brief = walk(short_loads);
    Walk full = walk(long_loads);
    constexpr double loads = long_loads - short_loads;
    return {.inside = (full.ticks - brief.ticks) / loads,
            .outside = (full.seconds - brief.seconds) * hertz / loads,
            .graph = 0,
            .core_hertz = full.ticks / full.seconds};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }
  [[nodiscard]] std::size_t checked() const { return checked_; }
  [[nodiscard]] std::size_t different() const { return different_; }

 private:
  static constexpr std::uint64_t short_loads = 1U << 17U;
  static constexpr std::uint64_t long_loads = 1U << 19U;

  struct Walk {
    double ticks = 0;
    double seconds = 0;
  };

  [[nodiscard]] const Slot* first() const { return &slots_[order_[0]]; }

  Walk walk(std::uint64_t loads) {
    const double began = monotonic_raw_seconds();
    const std::uint64_t start = tsc_now();
    const Slot* const end = follow(first(), loads);
    const std::uint64_t stop = tsc_now();
    const double ended = monotonic_raw_seconds();
    check(end, loads);
    return {.ticks = static_cast<double>(stop - start), .seconds = ended - began};
  }

  void check(const Slot* end, std::uint64_t loads) {
    ++checked_;
    if (end != &slots_[order_[loads % slots]]) ++different_;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> order_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  Chain chain;
  const auto seen = collect(chain, session.plan());
  report(session, seen.kept, "tsc_cycle", "tsc_slope", "monotonic_slope", nullptr,
         "tsc_over_monotonic");
  session.add(result_gate(chain.checked(), chain.different(), "chain ends against the cycle"));
  session.add(level_unverified("no hardware counters on the host"));
  session.fact("stopped_by", std::string{to_string(seen.stop)});
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace

Benchmark declare() {
  return {.suite = "micro",
          .name = "timer_check",
          .question = "Can the timers be believed? A dependent chain of loads that hit L1.",
          .axes = {{.name = "residency",
                    .meaning = "the level that holds the chain",
                    .choices = {"l1"},
                    .defaults = {"l1"}}},
          .quantities = {{"load_cycles", "cycles of one dependent load, by each timer"},
                         {"core_clock", "clock of the core while it read"}},
          .seconds_per_case = 0.05,
          .excludes = {}};
}

void report(Session& session, const std::vector<Observation>& seen, const char* unit,
            const char* inside, const char* outside, const char* graph, const char* clock) {
  const auto add = [&](const char* quantity, const char* in, const char* method, auto&& value) {
    Measurement m{.quantity = quantity, .unit = in, .method = method, .samples = {}};
    for (const auto& one : seen)
      m.samples.push_back(std::invoke(value, one));
    session.add(m);
    return m.samples;
  };
  const auto by_inside = add("load_cycles", unit, inside, &Observation::inside);
  const auto by_outside = add("load_cycles", unit, outside, &Observation::outside);
  session.add(timer_gate(by_inside, inside, by_outside, outside));
  if (graph != nullptr) {
    const auto by_graph = add("load_cycles", unit, graph, &Observation::graph);
    session.add(timer_gate(by_inside, inside, by_graph, graph));
  }
  session.add(clock_gate(add("core_clock", "Hz", clock, &Observation::core_hertz)));
}

}  // namespace strata::timer_check
