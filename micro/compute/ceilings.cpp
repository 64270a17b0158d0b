// The declaration, the limits and the report of ceilings: ceilings.hpp says what it asks.
#include "micro/compute/ceilings.hpp"

#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace strata::ceilings {
namespace {

struct Lanes {
  std::string_view capability;
  int fp32;
  int fp64;
  int fp16x2;  ///< 0: not in the guide, or guides disagree
  int bf16x2;
  int int32;
};

// 8.0: 256 results of __half2, 128 of __nv_bfloat162. 10.0: editions of the guide disagree on
// 16-bit results. dp4a has no row in the guide.
constexpr std::array<Lanes, 7> guide{{
    {"7.5", 64, 2, 64, 0, 64},
    {"8.0", 64, 32, 128, 64, 64},
    {"8.6", 128, 2, 64, 64, 64},
    {"8.9", 128, 2, 64, 64, 64},
    {"9.0", 128, 64, 128, 128, 64},
    {"10.0", 128, 64, 0, 0, 64},
    {"12.0", 128, 2, 64, 0, 64},
}};

/// A CPU takes part once: with the form whose operands are there all the time.
std::optional<std::string> excludes(const Params& params, Backend backend) {
  const std::string& form = params.at("form");
  if (backend == Backend::host) {
    if (form != "steady" || params.at("warps_per_sm") != "32") {
      return "a CPU has neither warps nor banks of registers";
    }
    const std::string& arithmetic = params.at("arithmetic");
    if (arithmetic != "fp32" && arithmetic != "fp64") return "only these are peaks of every CPU";
    return std::nullopt;
  }
  const Arithmetic& kind = kind_of(params.at("arithmetic"));
  if (!kind.floating && form != "alternating") {
    return "integers reach their peak with operands that alternate";
  }
  if (form == "uniform" && kind.operations > 2) {
    return "packed arithmetic takes its operands from the lanes' own registers";
  }
  return std::nullopt;
}

}  // namespace

Benchmark declare() {
  std::vector<std::string> names;
  names.reserve(kinds.size());
  for (const Arithmetic& kind : kinds)
    names.emplace_back(kind.name);
  return {
      .suite = "micro",
      .name = "ceilings",
      .question = "How much arithmetic does the chip do in a second, and how much should it?",
      .axes = {{.name = "arithmetic",
                .meaning = "what the multiply-adds work on",
                .choices = names,
                .defaults = names},
               {.name = "form",
                .meaning =
                    "how the operands come: in other registers at each step, in the same ones "
                    "for long, two of the three in one, or one of them for all lanes at once",
                .choices = {forms.begin(), forms.end()},
                .defaults = {forms.begin(), forms.end()}},
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

const Arithmetic& kind_of(std::string_view name) {
  const auto* const found = std::ranges::find(kinds, name, &Arithmetic::name);
  if (found == kinds.end()) throw std::out_of_range{"no arithmetic " + std::string{name}};
  return *found;
}

std::optional<int> lanes_per_sm(std::string_view capability, std::string_view kind) {
  const auto* const row = std::ranges::find(guide, capability, &Lanes::capability);
  if (row == guide.end()) return std::nullopt;
  const int lanes = kind == "fp32"     ? row->fp32
                    : kind == "fp64"   ? row->fp64
                    : kind == "fp16x2" ? row->fp16x2
                    : kind == "bf16x2" ? row->bf16x2
                    : kind == "int32"  ? row->int32
                                       : 0;
  return lanes > 0 ? std::optional{lanes} : std::nullopt;
}

void report(Session& session, const Collection<Observation>& seen, const Arithmetic& kind,
            unsigned sms) {
  const Timed timed{session, seen};
  const char* const rate = kind.floating ? "flops_per_second" : "operations_per_second";
  const char* const unit = kind.floating ? "FLOP/s" : "operation/s";
  timed.add(rate, unit, "event_slope",
            [&](const Observation& o) { return o.instructions_per_second * kind.operations; });
  timed.add("instruction_cycles", "cycle", "clock64_slope", &Observation::inside);
  timed.add("instruction_cycles", "cycle", "event_slope", &Observation::outside);
  timed.add("grid_time", "s", "event", &Observation::grid_seconds);
  timed.core_clock("clock64_over_globaltimer", &Observation::core_hertz);
  timed.timers(&Observation::inside, "clock64_slope", &Observation::outside, "event_slope");
  const auto& facts = session.device().identity().facts;
  const auto lanes = lanes_per_sm(std::get<std::string>(facts.at("compute_capability")), kind.name);
  if (lanes) {
    const double of_a_cycle = static_cast<double>(sms) * *lanes;
    session.add(Measurement{
        .quantity = rate,
        .unit = unit,
        .provenance = Provenance::modelled,
        .method = "lanes_times_clock",
        .samples = {of_a_cycle * kind.operations * median(seen.series(&Observation::core_hertz))}});
    timed.add("share_of_limit", "1", "event_slope", [of_a_cycle](const Observation& o) {
      return o.instructions_per_second / (of_a_cycle * o.core_hertz);
    });
    session.fact("lanes_per_sm", std::int64_t{*lanes});
  }
  session.fact("operations_of_an_instruction", std::int64_t{kind.operations});
}

STRATA_DECLARED(declare);

}  // namespace strata::ceilings
