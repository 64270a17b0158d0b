// The declaration, the limits and the report of ceilings: ceilings.hpp says what it asks.
#include "micro/ceilings.hpp"

#include "harness/core/gates.hpp"
#include "harness/core/statistics.hpp"

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
                .defaults = names}},
      .counter_sets = {"flops"},
      .quantities = {{"flops_per_second", "floating-point operations, whole chip; and modelled"},
                     {"operations_per_second", "integer operations, whole chip; and modelled"},
                     {"share_of_limit", "of what SMs, lanes and the clock held allow"},
                     {"instruction_cycles", "SM cycles for an instruction of a warp"},
                     {"grid_time", "the whole launch, start-up included"},
                     {"core_clock", "clock of the core under this load"}},
      .seconds_per_case = 0.15,
      .excludes = {}};
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
  const auto add = [&](const char* quantity, const char* unit, const char* method, auto&& value) {
    session.add(Measurement{.quantity = quantity,
                            .unit = unit,
                            .provenance = Provenance::timed,
                            .method = method,
                            .samples = seen.series(value)});
  };
  const char* const rate = kind.floating ? "flops_per_second" : "operations_per_second";
  const char* const unit = kind.floating ? "FLOP/s" : "operation/s";
  add(rate, unit, "event_slope",
      [&](const Observation& o) { return o.instructions_per_second * kind.operations; });
  add("instruction_cycles", "cycle", "clock64_slope", &Observation::inside);
  add("instruction_cycles", "cycle", "event_slope", &Observation::outside);
  add("grid_time", "s", "event", &Observation::grid_seconds);
  add("core_clock", "Hz", "clock64_over_globaltimer", &Observation::core_hertz);
  session.add(timer_gate(seen.series(&Observation::inside), "clock64_slope",
                         seen.series(&Observation::outside), "event_slope"));
  const auto hertz = seen.series(&Observation::core_hertz);
  session.add(clock_gate(hertz));
  const auto& facts = session.device().identity().facts;
  const auto lanes = lanes_per_sm(std::get<std::string>(facts.at("compute_capability")), kind.name);
  if (lanes) {
    const double of_a_cycle = static_cast<double>(sms) * *lanes;
    session.add(Measurement{.quantity = rate,
                            .unit = unit,
                            .provenance = Provenance::modelled,
                            .method = "lanes_times_clock",
                            .samples = {of_a_cycle * kind.operations * median(hertz)}});
    add("share_of_limit", "1", "event_slope", [of_a_cycle](const Observation& o) {
      return o.instructions_per_second / (of_a_cycle * o.core_hertz);
    });
    session.fact("lanes_per_sm", std::int64_t{*lanes});
  }
  session.fact("operations_of_an_instruction", std::int64_t{kind.operations});
  session.fact("stopped_by", std::string{to_string(seen.stop)});
}

STRATA_DECLARED(declare);

}  // namespace strata::ceilings
