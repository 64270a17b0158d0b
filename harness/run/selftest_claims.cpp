// The claims, as data: what is tested, on which cases, and what must come out.
#include "harness/record/statistics.hpp"
#include "harness/run/agreement.hpp"
#include "harness/run/selftest.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace strata {
namespace {

using Values = std::vector<std::string>;
using Kind = Claim::Kind;

std::function<Interval(const Params&)> from_to(double low, double high) {
  return [=](const Params&) { return Interval{low, high}; };
}

double stride_of(const Params& params) {
  return std::stod(params.at("stride"));
}

std::vector<std::string> counted(int from, int to) {
  std::vector<std::string> values;
  for (int i = from; i <= to; ++i)
    values.push_back(std::to_string(i));
  return values;
}

/// The case with the mistake and the one without.
std::vector<SweepEntry> control(std::string_view subject, std::string_view mistake) {
  return {{.benchmark = "control",
           .axes = {{"subject", {std::string{subject}}},
                    {"mistake", {"none", std::string{mistake}}},
                    {"repeat", {"1"}}}}};
}

struct Control {
  const char* what = "";
  const char* subject = "";
  const char* mistake = "";
  const char* gate = "";
  const char* absent = "";  ///< what it means if the gate passes, as it may on some chips
};

/// Of every device.
constexpr std::initializer_list<Control> of_all{
    {"a folded dependency: loads are timed one by one, and nothing waits for them", "chain",
     "folded_dependency", "timer"},
    {"a load that is optimised away", "chain", "optimised_away", "result"},
    {"a sample from another case", "chain", "other_sample", "result"},
    {"a slope across two clocks: the short launch at half the clock", "chain", "two_clocks",
     "timer"},
};
constexpr std::initializer_list<Control> of_gpu{
    {"a 32-bit clock, in a launch that outlasts it", "chain", "clock_32", "timer"},
    {"a kernel that spills", "chain", "spilled", "code"},
    {"warm L2 claimed as DRAM", "dram_reads", "warm_l2_as_dram", "level"},
    {"a persisting L2 carve-out, which eviction does not empty, claimed as DRAM", "dram_reads",
     "persisting_carve_out", "level"},
    {"near L2 claimed as far", "l2_chain", "near_l2_as_far", "model"},
    {"far L2 claimed as near", "l2_chain", "far_l2_as_near", "level", "L2 is one cache here"},
    {"requests that all SMs share, claimed as L2 traffic", "l2_reads", "merged_requests", "level",
     "this chip does not merge requests"},
};

void add(std::vector<Claim>& claims, std::initializer_list<Control> controls) {
  for (const Control& one : controls) {
    claims.push_back({.kind = Kind::control,
                      .what = one.what,
                      .cases = control(one.subject, one.mistake),
                      .expected = std::string{"gate "} + one.gate + " fails",
                      .judge = caught_by(one.gate, one.absent)});
  }
}

Claim same_twice(const std::string& what, const Values& subjects, int repeats, const RowName& row) {
  return {.kind = Kind::same_twice,
          .what = what,
          .cases = {{.benchmark = "control",
                     .axes = {{"subject", subjects},
                              {"mistake", {"none"}},
                              {"repeat", counted(1, repeats)}}}},
          .expected = "no more alarms than chance gives for 95 % intervals",
          .judge = rarely_alarms(row)};
}

std::vector<Claim> claims_of_host() {
  const auto operation = [](const char* name) {
    return std::vector<SweepEntry>{
        {.benchmark = "instruction_cost",
         .axes = {{"operation", {name}}, {"ilp", {"1"}}, {"warps_per_sm", {"1"}}}}};
  };
  std::vector<Claim> claims;
  claims.push_back({.what = "a chain of known length in L1 ends where it must, by two timers",
                    .cases = {{.benchmark = "timer_check", .axes = {{"residency", {"l1"}}}}},
                    .expected = "gates result and timer pass, 1 to 10 cycles per load",
                    .judge = all_of({value_is({"load_cycles", "tsc_slope"}, from_to(1, 10)),
                                     gates_pass({"result", "timer"})})});
  claims.push_back(
      {.what = "a dependent multiplication takes 3 core cycles",
       .cases = operation("imul"),
       .expected = "2.94 to 3.06",
       .judge = value_is({"operation_core_cycles", "over_dependent_adds"}, from_to(2.94, 3.06))});
  claims.push_back(
      {.what = "the clock held while a chain of additions was measured beside it",
       .cases = operation("iadd"),
       .expected = "0.98 to 1.02 cycles of its own clock",
       .judge = value_is({"operation_core_cycles", "over_dependent_adds"}, from_to(0.98, 1.02))});
  claims.push_back(
      {.what = "7 loads of words 28 B apart, and 7 of adjacent words (by the model)",
       .cases =
           {{.benchmark = "layout_traffic",
             .axes = {{"generation", {"7.x"}}, {"layout", {"aos", "soa"}}, {"fields", {"all"}}}}},
       .expected = "7 x 28 sectors and 7 x 4",
       .judge = value_is({"sectors_per_read", "coalescing_model"}, [](const Params& params) {
         const double sectors = 7 * (params.at("layout") == "aos" ? 28 : 4);
         return Interval{sectors, sectors};
       })});
  claims.push_back(
      {.what = "no core does more than two vector multiply-adds per cycle",
       .cases =
           {{.benchmark = "ceilings",
             .axes = {{"arithmetic", {"fp32"}}, {"form", {"steady"}}, {"warps_per_sm", {"32"}}}},
            operation("iadd").front()},
       .expected = "0.2 to 1.1 of the peak by lanes and clock",
       .judge = ratio_is({"flops_per_second_of_one_core", "monotonic_slope"},
                         {"core_clock", "dependent_adds"}, "operations_of_an_instruction",
                         /*times=*/2, {0.2, 1.1})});
  add(claims, of_all);
  claims.push_back(same_twice("two measurements of the same chain agree", {"chain"}, 32,
                              {"load_cycles", "tsc_slope"}));
  return claims;
}

std::vector<Claim> claims_of_gpu() {
  const Values to_32{"1", "2", "4", "8", "16", "32"};
  const auto bandwidth = [](const char* level) {
    return std::vector<SweepEntry>{{.benchmark = "bandwidth",
                                    .axes = {{"level", {level}},
                                             {"operation", {"read"}},
                                             {"width", {"16"}},
                                             {"block_size", {"512"}},
                                             {"blocks_per_sm", {"2"}},
                                             {"in_flight", {"4"}}}}};
  };
  std::vector<Claim> claims;
  claims.push_back(
      {.what = "a chain of known length in L1 ends where it must, by three timers",
       .cases = {{.benchmark = "timer_check", .axes = {{"residency", {"l1"}}}}},
       .expected = "1 request per load, 20 to 60 cycles, gates result, timer and level pass",
       .judge = all_of({value_is({"requests_per_read", "cupti_net"}, from_to(1, 1)),
                        value_is({"load_cycles", "clock64_slope"}, from_to(20, 60)),
                        gates_pass({"result", "timer", "level"})})});
  claims.push_back(
      {.what = "a dependent multiply-add takes 4 cycles",
       .cases = {{.benchmark = "instruction_cost",
                  .axes = {{"operation", {"ffma"}}, {"ilp", {"1"}}, {"warps_per_sm", {"1"}}}}},
       .expected = "3.96 to 4.1",
       .judge = value_is({"operation_cycles", "clock64_slope"}, from_to(3.96, 4.1))});
  const std::vector<SweepEntry> conflicts{
      {.benchmark = "bank_conflicts",
       .axes = {
           {"operation", {"load"}}, {"pattern", {"stride"}}, {"width", {"4"}}, {"stride", to_32}}}};
  claims.push_back({.what = "lanes that conflict in a bank 1, 2, … 32 ways need as many wavefronts",
                    .cases = conflicts,
                    .expected = "1, 2, 4, 8, 16, 32",
                    .judge = value_is({"shared_load_wavefronts_per_access", "cupti_net"},
                                      [](const Params& params) {
                                        return Interval{stride_of(params), stride_of(params)};
                                      })});
  claims.push_back(
      {.what = "and as many cycles of the SM",
       .cases = conflicts,
       .expected = "1, 2, 4, 8, 16, 32 within 2 %",
       .judge = value_is({"warp_access_cycles", "clock64_slope"}, [](const Params& params) {
         constexpr double bound = 0.02;
         return Interval{(1 - bound) * stride_of(params), (1 + bound) * stride_of(params)};
       })});
  claims.push_back(
      {.what = "words 1, 2, … 32 apart: 4 sectors per request times the stride, 32 at most",
       .cases = {{.benchmark = "coalescing",
                  .axes = {{"width", {"4"}},
                           {"stride", to_32},
                           {"misalignment", {"0"}},
                           {"permutation", {"identity"}}}}},
       .expected = "4, 8, 16, 32, 32, 32",
       .judge = value_is({"sectors_per_request", "cupti_net"}, [](const Params& params) {
         const double sectors = std::min(4 * stride_of(params), 32.0);
         return Interval{sectors, sectors};
       })});
  for (const char* const level : {"l1", "l2", "dram"}) {
    claims.push_back({.what = std::string{"bytes read at level "} + level +
                              " are counted there, and nowhere else",
                      .cases = bandwidth(level),
                      .expected = "gates model and level pass",
                      .judge = gates_pass({"model", "level"})});
  }
  const std::vector<SweepEntry> flops{
      {.benchmark = "ceilings",
       .axes = {{"arithmetic", {"fp32"}}, {"form", {"steady"}}, {"warps_per_sm", {"32"}}}}};
  claims.push_back({.what = "multiply-adds reach the peak by lanes and clock, and none exceeds it",
                    .cases = flops,
                    .expected = "0.95 to 1.003 of it",
                    .judge = value_is({"share_of_limit", "event_slope"}, from_to(0.95, 1.003))});
  claims.push_back({.what = "the clock held under arithmetic",
                    .cases = flops,
                    .expected = "gate clock passes",
                    .judge = gates_pass({"clock"})});
  add(claims, of_all);
  add(claims, of_gpu);
  claims.push_back(same_twice("two measurements of the same chains agree", {"chain", "l2_chain"},
                              16, {"load_cycles", "event_slope"}));
  claims.push_back(same_twice("two measurements of the same reads agree", {"l2_reads"}, 16,
                              {"bandwidth", "event_slope"}));
  return claims;
}

}  // namespace

std::vector<Claim> claims_of(Backend backend) {
  auto claims = backend == Backend::host ? claims_of_host() : claims_of_gpu();
  const auto pairs = agreement_claims(backend, benchmarks());
  claims.insert(claims.end(), pairs.begin(), pairs.end());
  return claims;
}

}  // namespace strata
