#include "micro/compute/ceilings.hpp"

#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>

namespace strata::ceilings {
namespace {

struct Lanes {
  std::string_view capability;
  /// In the order of Arithmetic; 0: not in the guide, or its editions disagree.
  std::array<int, 6> of;
};

// 8.0: 256 results of __half2, 128 of __nv_bfloat162. 10.0: editions of the guide disagree on
// 16-bit results. dp4a has no row in the guide.
constexpr std::array<Lanes, 7> guide{{
    {"7.5", {64, 2, 64, 0, 64, 0}},
    {"8.0", {64, 32, 128, 64, 64, 0}},
    {"8.6", {128, 2, 64, 64, 64, 0}},
    {"8.9", {128, 2, 64, 64, 64, 0}},
    {"9.0", {128, 64, 128, 128, 64, 0}},
    {"10.0", {128, 64, 0, 0, 64, 0}},
    {"12.0", {128, 2, 64, 0, 64, 0}},
}};

std::optional<std::string> excludes(const Params& params, Backend backend) {
  const Arithmetic arithmetic = arithmetics.of(params.at("arithmetic"));
  const Form form = forms.of(params.at("form"));
  if (backend == Backend::cuda) {
    if (const char* const why = why_not(arithmetic, form)) return why;
    return std::nullopt;
  }
  // A CPU runs one of these cases: the form whose operands are always available.
  if (form != Form::steady || params.at("warps_per_sm") != "32") {
    return "a CPU has neither warps nor register banks";
  }
  if (arithmetic > Arithmetic::fp64) return "only these are peaks of every CPU";
  return std::nullopt;
}

/// The rows that both backends have for the slope `index`, and their timers.
void add_common_rows(Experiment& experiment, std::size_t index) {
  add_both(experiment, "instruction_cycles", "cycle", index);
  experiment.rows.push_back(grid_time(index));
}

}  // namespace

Benchmark declare() {
  return {.suite = "micro",
          .name = "ceilings",
          .question = "How much arithmetic does the chip do per second, and how much should it do?",
          .axes = {arithmetics.axis("arithmetic", "data type of the multiply-adds"),
                   forms.axis(
                       "form",
                       "operands: from different registers at each step, from the same ones for "
                       "many steps, two of the three in one register, or one shared by all lanes"),
                   listed_axis("warps_per_sm", "warps of the block on each SM", {"8", "16", "32"},
                               {"16", "32"})},
          .counter_sets = {"flops"},
          .quantities = {{"flops_per_second",
                          "floating-point operations, whole chip; measured and modelled"},
                         {"flops_per_second_of_one_core", "host: the first core alone"},
                         {"operations_per_second",
                          "integer operations, whole chip; measured and modelled"},
                         {"share_of_limit", "share of the limit by SMs, lanes and measured clock"},
                         {"instruction_cycles", "SM cycles per warp instruction (host: per core)"},
                         {"grid_time", "duration of the whole launch, including start-up"},
                         {"core_clock", "clock of the core under this load"}},
          .seconds_per_case = 0.15,
          .excludes = excludes};
}

std::optional<int> lanes_per_sm(std::string_view capability, Arithmetic arithmetic) {
  const auto* const row = std::ranges::find(guide, capability, &Lanes::capability);
  const int lanes = row == guide.end() ? 0 : row->of.at(static_cast<std::size_t>(arithmetic));
  return lanes > 0 ? std::optional{lanes} : std::nullopt;
}

operations::Shape in_form(const Shape& shape) {
  return with_operation(shape, [&]<class Op>() {
    return operations::Shape{operations::operation_of<Op>, Op::chains, shape.warps};
  });
}

Experiment describe(const Shape& shape, const GpuFacts& gpu, std::span<const std::uint64_t> ends) {
  constexpr double timed_seconds = 8e-3;  // of the long launch: the clock has adapted to the load
  constexpr std::uint32_t counted_rounds = 16;
  const operations::Shape form = in_form(shape);
  const double of_round = double{1} * form.operation.body * shape.warps;
  const double of_instruction = operations_of_instruction(shape.arithmetic);
  const char* const rate =
      is_floating(shape.arithmetic) ? "flops_per_second" : "operations_per_second";
  const char* const unit = is_floating(shape.arithmetic) ? "FLOP/s" : "operation/s";
  const double threads = static_cast<double>(gpu.sms) * warp_lanes;  // of one warp on each SM

  Experiment experiment = operations::on_every_sm(
      form, gpu, ends, [](std::uint32_t rounds) { return std::uint64_t{rounds}; });
  experiment.slopes[0].size = lengths_by_trial(timed_seconds, of_round);
  experiment.slopes[0].window = median_sm(shape.warps);
  experiment.rows = {{rate, unit, By::outside, per_second(threads * of_instruction)}};
  add_common_rows(experiment, 0);
  const auto lanes = lanes_per_sm(gpu.compute_capability, shape.arithmetic);
  if (lanes) {
    const double of_cycle = static_cast<double>(gpu.sms) * *lanes;
    experiment.rows.push_back({.quantity = "share_of_limit",
                               .unit = "1",
                               .method = By::outside,
                               .value = of_slope([=](const Seen& seen) {
                                 return threads / seen.seconds / (of_cycle * seen.inside.hertz);
                               }),
                               .most = 1});
    experiment.conclude = [=](Session& session, const std::vector<Sample>& samples) {
      std::vector<double> hertz;
      hertz.reserve(samples.size());
      for (const Sample& one : samples)
        hertz.push_back(one.slopes.front().inside.hertz);
      session.add(Measurement{.quantity = rate,
                              .unit = unit,
                              .provenance = Provenance::modelled,
                              .method = "lanes_times_clock",
                              .samples = {of_cycle * of_instruction * median(hertz)}});
    };
  }
  // Both launches do one more round: only a launch that enters the loop prepares the loop's
  // operands, and ptxas writes a constant there with an HFMA2.
  experiment.counts =
      operations::counts_of(form.operation, {.rounds = counted_rounds + 1}, {.rounds = 1},
                            counted_rounds * of_round * threads, "instruction");
  experiment.facts = [=](const Experiment&) {
    Facts facts{{"operations_of_an_instruction", static_cast<std::int64_t>(of_instruction)},
                {"chains_of_a_warp", std::int64_t{form.chains}},
                {"multiply_add", std::string{operands_of(shape.form)}}};
    if (lanes) facts["lanes_per_sm"] = std::int64_t{*lanes};
    return facts;
  };
  return experiment;
}

Experiment describe(std::size_t cores, std::size_t lanes) {
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

// Every core squares and adds, x → x·x + c, in ten chains of its widest vectors: more than two
// units with a latency of four cycles need. The map is chaotic, so the final values prove the
// number of steps. There is no limit to compare with: no CPU reports how many multiply-adds it can
// do in a cycle.
namespace {

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

  Experiment experiment = describe(machine.cores(), lanes);
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
