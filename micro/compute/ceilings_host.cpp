// The host backend of ceilings: ceilings.hpp says what it asks.
//
// Every core squares and adds, x → x·x + c, in ten chains of the widest vectors that it has: more
// than two units of four cycles can take. The map is chaotic for the c that is used, so that a
// chain of one step less ends elsewhere in every bit: the ends prove how many steps there were.
// First the first core works alone, then all of them. Nobody publishes how many multiply-adds a CPU
// found at run time does in a cycle, so there is no limit beside the number.
#include "harness/case/error.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/compute/ceilings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace strata::ceilings {
namespace {

#if defined(__x86_64__)

constexpr double timed_seconds = 2e-4;  // of a long run: shorter than the time between interrupts
constexpr int pairs = 7;  // of runs in a sample, of which the median counts: most meet none
constexpr std::uint64_t parts = 5;  // the short run has one of these
constexpr std::size_t chains = 10;
constexpr std::uint64_t steps = 24;          // of each chain in a turn of the loop
constexpr std::size_t most_lanes = 16;       // of a vector of 64 bytes
constexpr std::uint32_t distinct_lanes = 8;  // lane l has the numbers of l mod this

template <class Real>
struct Vectors {
  alignas(64) std::array<Real, chains * most_lanes> x{};  // chain by chain
  alignas(64) std::array<Real, most_lanes> c{};
};

#define STRATA_EACH(of) of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8) of(9)
/// One asm statement, so that what stands here is what is executed. `n` turns of the loop: 24 steps
/// of ten chains, and two instructions that close it. Loads and stores are outside the loop.
#define STRATA_SQUARES(name, Real, reg)                                                     \
  void name(Vectors<Real>& v, std::uint64_t n) {                                            \
    asm volatile("vmovups (%[c]), %%" reg "10\n\t" STRATA_EACH(STRATA_LOAD)               \
                 ".balign 64\n1:\n\t.rept 24\n\t" STRATA_EACH(STRATA_STEP) ".endr\n\t"          \
                 "decq %[n]\n\tjnz 1b\n\t" STRATA_EACH(STRATA_STORE) "vzeroupper"               \
                 : [n] "+&r"(n)                                                                 \
                 : [x] "r"(v.x.data()), [c] "r"(v.c.data())                                     \
                 : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",      \
                   "xmm7", "xmm8", "xmm9", "xmm10"); \
  }

#define STRATA_LOAD(i) "vmovups " #i "*64(%[x]), %%zmm" #i "\n\t"
#define STRATA_STORE(i) "vmovups %%zmm" #i ", " #i "*64(%[x])\n\t"
#define STRATA_STEP(i) "vfmadd213ps %%zmm10, %%zmm" #i ", %%zmm" #i "\n\t"
STRATA_SQUARES(squares_avx512, float, "zmm")
#undef STRATA_STEP
#define STRATA_STEP(i) "vfmadd213pd %%zmm10, %%zmm" #i ", %%zmm" #i "\n\t"
STRATA_SQUARES(squares_avx512, double, "zmm")
#undef STRATA_STEP
#undef STRATA_LOAD
#undef STRATA_STORE
#define STRATA_LOAD(i) "vmovups " #i "*32(%[x]), %%ymm" #i "\n\t"
#define STRATA_STORE(i) "vmovups %%ymm" #i ", " #i "*32(%[x])\n\t"
#define STRATA_STEP(i) "vfmadd213ps %%ymm10, %%ymm" #i ", %%ymm" #i "\n\t"
STRATA_SQUARES(squares_avx2, float, "ymm")
#undef STRATA_STEP
#define STRATA_STEP(i) "vfmadd213pd %%ymm10, %%ymm" #i ", %%ymm" #i "\n\t"
STRATA_SQUARES(squares_avx2, double, "ymm")
#undef STRATA_STEP
#undef STRATA_LOAD
#undef STRATA_STORE
#undef STRATA_SQUARES
#undef STRATA_EACH

template <class Real>
struct Code {
  void (*run)(Vectors<Real>&, std::uint64_t);
  std::size_t lanes;
  const char* instructions;
};

template <class Real>
Code<Real> widest() {
  constexpr std::size_t wide = 64;
  if (__builtin_cpu_supports("avx512f")) {
    return {squares_avx512, wide / sizeof(Real), "avx512"};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {squares_avx2, wide / 2 / sizeof(Real), "avx2"};
  }
  throw Skipped{"the CPU has no fused multiply-adds on vectors"};
}

/// From -1.99 to -1.83: x stays between c and c² + c, and nearly all of these maps are chaotic.
template <class Real>
Real addend(std::uint32_t lane) {
  return static_cast<Real>(-1.99 + 0.02 * lane + 1e-3 * operations::fraction<double>(lane));
}
template <class Real>
Real start(std::uint32_t lane) {
  return static_cast<Real>(operations::fraction<double>(lane + distinct_lanes) / 2);
}

template <class Real>
using Ends = std::array<Real, distinct_lanes>;
/// `count` steps on from `ends`, one at a time.
template <class Real>
void advance(Ends<Real>& ends, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint32_t lane = 0; lane < distinct_lanes; ++lane)
      ends[lane] = std::fma(ends[lane], ends[lane], addend<Real>(lane));
  }
}

struct HostObservation {
  double ticks = 0;          ///< of a core for an instruction; the slowest core's, all at work
  double ticks_outside = 0;  ///< the same by the clock of the system
  double flops = 0;          ///< a second, all cores
  double flops_of_one = 0;   ///< a second, of the first core alone
  double grid_seconds = 0;
  double tick_hertz = 0;
};

/// The subject of the protocol.
template <class Real>
class Squares {
 public:
  Squares(const Code<Real>& code, ThreadTeam& team)
      : code_{code}, team_{team}, cores_(team.size()) {
    // Long enough for the core to come to the clock that it holds with such vectors.
    constexpr std::uint64_t trial = 1000;
    constexpr double warm_seconds = 0.01;
    double least = 1;
    for (double spent = 0; spent < warm_seconds;) {
      const double one = run(trial, /*all=*/true).seconds;
      least = std::min(least, one / trial);
      spent += one;
    }
    brief_ = static_cast<std::uint64_t>(std::max(timed_seconds / parts / least, 1.0));
    full_ = parts * brief_;
    Ends<Real> at{};
    for (std::uint32_t lane = 0; lane < distinct_lanes; ++lane)
      at[lane] = start<Real>(lane);
    advance(at, steps * brief_);
    brief_ends_ = at;
    advance(at, steps * (full_ - brief_));
    full_ends_ = at;
  }

  void prepare() {}

  HostObservation observe() {
    std::vector<HostObservation> several;
    several.reserve(pairs);
    for (int i = 0; i < pairs; ++i)
      several.push_back(observe_pair());
    return median_record(several, &HostObservation::ticks, &HostObservation::ticks_outside,
                         &HostObservation::flops, &HostObservation::flops_of_one,
                         &HostObservation::grid_seconds, &HostObservation::tick_hertz);
  }

  [[nodiscard]] static std::vector<double> watched(const HostObservation& seen) {
    return {seen.ticks, seen.ticks_outside};
  }
  [[nodiscard]] const operations::Checked& checked() const { return checked_; }
  [[nodiscard]] std::uint64_t instructions_of_long_run() const { return full_ * steps * chains; }

 private:
  /// One core's vectors and what it saw, on cache lines of their own.
  struct alignas(128) Core {
    Vectors<Real> vectors;
    std::uint64_t ticks = 0;
    double seconds = 0;
  };
  struct Span {
    double ticks = 0;  ///< of the slowest core
    double seconds = 0;
  };

  Span run(std::uint64_t turns, bool all) {
    const double seconds = team_.run([&](std::size_t rank) {
      if (rank != 0 && !all) return;
      Core& core = cores_[rank];
      for (std::uint32_t lane = 0; lane < code_.lanes; ++lane) {
        core.vectors.c[lane] = addend<Real>(lane % distinct_lanes);
        for (std::size_t chain = 0; chain < chains; ++chain)
          core.vectors.x[chain * code_.lanes + lane] = start<Real>(lane % distinct_lanes);
      }
      const double began = monotonic_raw_seconds();
      const std::uint64_t at = tsc_now();
      code_.run(core.vectors, turns);
      core.ticks = tsc_now() - at;
      core.seconds = monotonic_raw_seconds() - began;
    });
    if (!all) {
      const Core& first = cores_.front();
      return {.ticks = static_cast<double>(first.ticks), .seconds = first.seconds};
    }
    Span span{.seconds = seconds};
    for (const Core& core : cores_)
      span.ticks = std::max(span.ticks, static_cast<double>(core.ticks));
    return span;
  }

  void check(const Ends<Real>& wanted, bool all) {
    for (std::size_t rank = 0; rank < (all ? cores_.size() : 1); ++rank) {
      for (std::size_t i = 0; i < chains * code_.lanes; ++i) {
        const Real got = cores_[rank].vectors.x[i];
        checked_.one(operations::bits(got) == operations::bits(wanted[i % distinct_lanes]));
      }
    }
  }

  Span slope(bool all) {
    const Span brief = run(brief_, all);
    check(brief_ends_, all);
    const Span full = run(full_, all);
    check(full_ends_, all);
    full_seconds_ = full.seconds;
    const auto instructions = static_cast<double>((full_ - brief_) * steps * chains);
    return {.ticks = (full.ticks - brief.ticks) / instructions,
            .seconds = (full.seconds - brief.seconds) / instructions};
  }

  HostObservation observe_pair() {
    constexpr double operations_of_lane = 2;
    const double flops = operations_of_lane * static_cast<double>(code_.lanes);
    const Span one = slope(/*all=*/false);
    const Span all = slope(/*all=*/true);
    const Core& first = cores_.front();
    return {.ticks = all.ticks,
            .ticks_outside = all.seconds * tsc_hertz(),
            .flops = flops * static_cast<double>(cores_.size()) / all.seconds,
            .flops_of_one = flops / one.seconds,
            .grid_seconds = full_seconds_,
            .tick_hertz = static_cast<double>(first.ticks) / first.seconds};
  }

  Code<Real> code_;
  ThreadTeam& team_;
  std::vector<Core> cores_;
  std::uint64_t brief_ = 1;
  std::uint64_t full_ = parts;
  Ends<Real> brief_ends_{};
  Ends<Real> full_ends_{};
  double full_seconds_ = 0;
  operations::Checked checked_;
};

template <class Real>
void measure(Session& session) {
  const Code<Real> code = widest<Real>();
  ThreadTeam team{allowed_cpus()};
  Squares<Real> squares{code, team};
  const auto seen = collect(squares, session.plan());
  const Timed timed{session, seen};
  timed.add("flops_per_second", "FLOP/s", "monotonic_slope", &HostObservation::flops);
  timed.add("flops_per_second_of_one_core", "FLOP/s", "monotonic_slope",
            &HostObservation::flops_of_one);
  timed.add("instruction_cycles", "tsc_cycle", "tsc_slope", &HostObservation::ticks);
  timed.add("instruction_cycles", "tsc_cycle", "monotonic_slope", &HostObservation::ticks_outside);
  timed.add("grid_time", "s", "monotonic", &HostObservation::grid_seconds);
  timed.core_clock("tsc_over_monotonic", &HostObservation::tick_hertz);
  timed.timers(&HostObservation::ticks, "tsc_slope", &HostObservation::ticks_outside,
               "monotonic_slope");
  session.add(result_gate(squares.checked().words, squares.checked().different,
                          "ends of chains against multiply-adds one at a time"));
  session.fact("instructions", std::string{code.instructions});
  session.fact("cores", static_cast<std::int64_t>(team.size()));
  session.fact("operations_of_an_instruction", static_cast<std::int64_t>(2 * code.lanes));
  session.fact("instructions_of_long_run",
               static_cast<std::int64_t>(squares.instructions_of_long_run()));
}

void run(Session& session) {
  if (session.param("arithmetic") == "fp32") return measure<float>(session);
  return measure<double>(session);
}

#else

void run(Session& /*session*/) {
  throw Skipped{"the instructions are written for x86-64"};
}

#endif

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::ceilings
