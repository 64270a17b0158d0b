#include "micro/compute/ceilings.hpp"

#include "harness/record/statistics.hpp"

namespace strata::ceilings {
namespace {

struct Lanes {
  std::string_view capability;
  std::array<int, 6> of;  ///< in the order of Arithmetic; 0: not in the guide, or guides disagree
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
  // A CPU takes part once: with the form whose operands are there all the time.
  if (form != Form::steady || params.at("warps_per_sm") != "32") {
    return "a CPU has neither warps nor banks of registers";
  }
  if (arithmetic > Arithmetic::fp64) return "only these are peaks of every CPU";
  return std::nullopt;
}

/// The rows that both backends have, of the slope `index`, and their timers.
void add_common_rows(Experiment& experiment, std::size_t index) {
  add_both(experiment, "instruction_cycles", "cycle", index);
  experiment.rows.push_back({"grid_time", "s", By::whole,
                             of_slope([](const Seen& seen) { return seen.full_seconds; }, index)});
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "ceilings",
      .question = "How much arithmetic does the chip do in a second, and how much should it?",
      .axes = {arithmetics.axis("arithmetic", "what the multiply-adds work on"),
               forms.axis("form",
                          "how the operands come: in other registers at each step, in the same "
                          "ones for long, two of the three in one, or one of them for all lanes "
                          "at once"),
               {.name = "warps_per_sm",
                .meaning = "warps of the block on each SM",
                .choices = {"8", "16", "32"},
                .defaults = {"16", "32"}}},
      .counter_sets = {"flops"},
      .quantities = {{"flops_per_second", "floating-point operations, whole chip; and modelled"},
                     {"flops_per_second_of_one_core", "host: the first core alone"},
                     {"operations_per_second", "integer operations, whole chip; and modelled"},
                     {"share_of_limit", "of what SMs, lanes and the clock held allow"},
                     {"instruction_cycles",
                      "SM cycles for an instruction of a warp (host: of a core)"},
                     {"grid_time", "the whole launch, start-up included"},
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
  constexpr double timed_seconds = 8e-3;  // of the long launch: regulators have seen the load
  constexpr std::uint32_t counted_rounds = 16;
  const operations::Shape form = in_form(shape);
  const double of_round = double{1} * form.operation.body * shape.warps;
  const double of_instruction = operations_of_instruction(shape.arithmetic);
  const char* const rate =
      is_floating(shape.arithmetic) ? "flops_per_second" : "operations_per_second";
  const char* const unit = is_floating(shape.arithmetic) ? "FLOP/s" : "operation/s";
  const double threads = static_cast<double>(gpu.sms) * warp_lanes;  // of a warp on each SM

  Experiment experiment = operations::on_every_sm(
      form, gpu, ends, [](std::uint32_t rounds) { return std::uint64_t{rounds}; });
  experiment.slopes[0].size = lengths_by_trial(timed_seconds, of_round);
  experiment.slopes[0].window = median_sm(shape.warps);
  experiment.rows = {{rate, unit, By::outside, operations::per_second(threads * of_instruction)}};
  add_common_rows(experiment, 0);
  const auto lanes = lanes_per_sm(gpu.compute_capability, shape.arithmetic);
  if (lanes) {
    const double of_cycle = static_cast<double>(gpu.sms) * *lanes;
    experiment.rows.push_back({"share_of_limit", "1", By::outside, of_slope([=](const Seen& seen) {
                                 return threads / seen.seconds / (of_cycle * seen.inside.hertz);
                               })});
    experiment.conclude = [=](Session& session, const std::vector<Sample>& samples) {
      std::vector<double> hertz;
      for (const Sample& one : samples)
        hertz.push_back(one.slopes.front().inside.hertz);
      session.add(Measurement{.quantity = rate,
                              .unit = unit,
                              .provenance = Provenance::modelled,
                              .method = "lanes_times_clock",
                              .samples = {of_cycle * of_instruction * median(hertz)}});
    };
  }
  // A round more in both: only a launch that enters the loop sets up what the loop needs, and ptxas
  // writes a constant there by an HFMA2.
  experiment.counts =
      operations::counts_of(form.operation, {.rounds = counted_rounds + 1}, {.rounds = 1},
                            counted_rounds * of_round * threads, "instruction");
  experiment.facts = [=](const Experiment&) {
    Facts facts{{"operations_of_an_instruction", static_cast<std::int64_t>(of_instruction)},
                {"chains_of_a_warp", std::int64_t{form.chains}}};
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
  experiment.rows = {{"flops_per_second", "FLOP/s", By::outside, operations::per_second(of_all, 1)},
                     {"flops_per_second_of_one_core", "FLOP/s", By::outside,
                      operations::per_second(of_instruction, 0)}};
  add_common_rows(experiment, 1);
  experiment.watch = {cycles_of(1), outside_of(1)};
  experiment.checked = "ends of chains against multiply-adds one at a time";
  experiment.facts = [=](const Experiment& measured) {
    const double work = measured.slopes[1].lengths.full.work;
    return Facts{{"cores", static_cast<std::int64_t>(cores)},
                 {"operations_of_an_instruction", static_cast<std::int64_t>(of_instruction)},
                 {"instructions_of_long_run", static_cast<std::int64_t>(work)}};
  };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::ceilings
