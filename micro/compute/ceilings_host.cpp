// Every core squares and adds, x → x·x + c, in ten chains of its widest vectors: more than two
// units with a latency of four cycles need. The map is chaotic, so the final values prove the
// number of steps. There is no limit to compare with: no CPU reports how many multiply-adds it can
// do in a cycle.
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "micro/compute/ceilings.hpp"

namespace strata::ceilings {
namespace {

/// Slopes of the first core alone, then of all `cores`. Per instruction of a core.
Experiment describe_host(std::size_t cores, std::size_t lanes) {
  constexpr double of_lane = 2;
  constexpr int most_meet_no_interrupt = 7;
  const double of_instruction = of_lane * static_cast<double>(lanes);
  const double of_all = of_instruction * static_cast<double>(cores);
  Experiment experiment;
  experiment.slopes.resize(2);
  experiment.slopes[0].writers = 1;
  experiment.pairs = most_meet_no_interrupt;
  experiment.rows = {
      {"flops_per_second", "FLOP/s", By::outside, per_second(of_all, 1)},
      {"flops_per_second_of_one_core", "FLOP/s", By::outside, per_second(of_instruction, 0)}};
  add_common_rows(experiment, 1);
  experiment.checked = "chain ends against multiply-adds computed one at a time";
  experiment.facts = [=](const Experiment& measured) {
    const double work = measured.slopes[1].lengths.full.work;
    return Facts{{"cores", static_cast<std::int64_t>(cores)},
                 {"operations_of_an_instruction", static_cast<std::int64_t>(of_instruction)},
                 {"instructions_of_long_run", static_cast<std::int64_t>(work)}};
  };
  return experiment;
}

#if defined(__x86_64__)

using operations::distinct_lanes;

constexpr std::size_t chains = 10;
constexpr std::uint64_t steps = 24;     // of each chain in a turn of the loop
constexpr std::size_t most_lanes = 16;  // of a vector of 64 bytes

/// On cache lines of its own: all cores work at once.
template <class Real>
struct alignas(128) Vectors {
  std::array<Real, chains * most_lanes> x{};  // chain by chain
  std::array<Real, most_lanes> c{};
};

/// `n` turns of 24 steps. One asm statement: the source is compiled without AVX, and a debug build
/// would not keep vectors in registers.
#define STRATA_SQUARES(name, Real, reg, bytes, multiply_add)                                      \
  void name(Vectors<Real>& v, std::uint64_t n) {                                                  \
    asm volatile(                                                                                 \
        "vmovups (%[c]), %%" reg                                                                  \
        "10\n\t"                                                                                  \
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9\n\t"                                                \
        "vmovups \\i*" bytes "(%[x]), %%" reg                                                     \
        "\\i\n\t.endr\n\t"                                                                        \
        ".balign 64\n1:\n\t.rept 24\n\t.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9\n\t" multiply_add     \
        " %%" reg "10, %%" reg "\\i, %%" reg                                                      \
        "\\i\n\t.endr\n\t.endr\n\t"                                                               \
        "decq %[n]\n\tjnz 1b\n\t.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9\n\t"                         \
        "vmovups %%" reg "\\i, \\i*" bytes "(%[x])\n\t.endr\n\tvzeroupper"                        \
        : [n] "+&r"(n)                                                                            \
        : [x] "r"(v.x.data()), [c] "r"(v.c.data())                                                \
        : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", \
          "xmm9", "xmm10");                                                                       \
  }
STRATA_SQUARES(squares_avx512, float, "zmm", "64", "vfmadd213ps")
STRATA_SQUARES(squares_avx512, double, "zmm", "64", "vfmadd213pd")
STRATA_SQUARES(squares_avx2, float, "ymm", "32", "vfmadd213ps")
STRATA_SQUARES(squares_avx2, double, "ymm", "32", "vfmadd213pd")
#undef STRATA_SQUARES

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
void measure_squares(Session& session) {
  constexpr double timed_seconds = 2e-4;  // of a long run: shorter than the time between interrupts
  constexpr std::uint32_t trial_turns = 1000;
  constexpr double warm_seconds = 0.01;  // the core settles at the clock that it holds with vectors
  const bool wide = __builtin_cpu_supports("avx512f");
  if (!wide && (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))) {
    throw Skipped{"the CPU has no vector fused multiply-add"};
  }
  const auto squares = [&](Vectors<Real>& v, std::uint64_t n) {
    wide ? squares_avx512(v, n) : squares_avx2(v, n);
  };
  const std::size_t lanes = (wide ? 64 : 32) / sizeof(Real);
  const std::size_t distinct = std::min<std::size_t>(lanes, distinct_lanes);
  HostMachine machine{allowed_cpus()};
  Vectors<Real> at_start;
  for (std::size_t i = 0; i < chains * lanes; ++i) {
    const auto lane = static_cast<std::uint32_t>(i % distinct);
    at_start.x[i] = start<Real>(lane);
    at_start.c[i % lanes] = addend<Real>(lane);
  }
  std::vector<Vectors<Real>> cores(machine.cores());
  // The values of the lanes that differ, computed one step at a time.
  auto ends = operations::once_each([](std::uint32_t turns) {
    std::array<Real, distinct_lanes> x{};
    for (std::uint32_t lane = 0; lane < distinct_lanes; ++lane) {
      const Real c = addend<Real>(lane);
      x[lane] = start<Real>(lane);
      for (std::uint64_t i = 0; i < turns * steps; ++i)
        x[lane] = std::fma(x[lane], x[lane], c);
    }
    return x;
  });

  Experiment experiment = describe_host(machine.cores(), lanes);
  const auto work = [&](std::size_t rank, const Call& call) -> std::uint64_t {
    cores[rank] = at_start;
    squares(cores[rank], call.length.rounds);
    return 0;
  };
  experiment.slopes[0].launch = machine.on_first_core(work);
  experiment.slopes[1].launch = machine.on_every_core(work);
  for (Slope& slope : experiment.slopes) {
    slope.verify = [&](const Call& call, std::span<const Stamp> stamps, Tally& tally) {
      const auto& wanted = ends(call.length.rounds);
      for (std::size_t core = 0; core < stamps.size(); ++core) {
        for (std::size_t i = 0; i < chains * lanes; ++i)
          tally.one(operations::bits(cores[core].x[i]) == operations::bits(wanted[i % distinct]));
      }
    };
  }
  experiment.slopes[1].size = operations::lengths_by_least(
      timed_seconds, double{1} * steps * chains, trial_turns, warm_seconds);
  session.fact("instructions", std::string{wide ? "avx512" : "avx2"});
  measure(session, machine, experiment);
}

void run(Session& session) {
  if (session.param("arithmetic") == "fp32") return measure_squares<float>(session);
  return measure_squares<double>(session);
}

#else

void run(Session& /*session*/) {
  throw Skipped{"the instructions are written for x86-64"};
}

#endif

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::ceilings
