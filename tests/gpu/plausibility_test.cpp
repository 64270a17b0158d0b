// One case of every benchmark on the GPU: no gate fails, and its number is within bounds from
// physics and the chip's own facts. A broken chain, a loop of half the rounds or a load that was
// optimised away may give right sums, but violates these bounds.
#include "harness/case/benchmark.hpp"
#include "harness/case/sweep.hpp"
#include "harness/record/device_facts.hpp"
#include "harness/record/statistics.hpp"
#include "harness/run/case_runner.hpp"
#include "tests/gpu/settled_gpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace strata {
namespace {

/// The unit of a bound; 0 if the device does not report it.
using Unit = double (*)(const GpuFacts&);
double as_it_is(const GpuFacts&) {
  return 1;
}
double of_memory(const GpuFacts& gpu) {
  return gpu.dram_pin_bandwidth.value_or(0);
}
double of_clock(const GpuFacts& gpu) {
  return gpu.core_clock_peak.value_or(0);
}
double of_multiply_adds(const GpuFacts& gpu) {
  return gpu.sms * 128.0 * gpu.core_clock_peak.value_or(0);  // lanes of an SM, at the most
}

/// A quantity of a case, by any method, is from `low` to `high` of a unit.
struct Claim {
  std::string benchmark;
  std::vector<std::pair<std::string, std::string>> axes;  // others at their first default
  std::string quantity;
  double low;
  double high;
  Unit unit = as_it_is;

  friend std::ostream& operator<<(std::ostream& out, const Claim& claim) {
    out << claim.benchmark;
    for (const auto& [axis, value] : claim.axes)
      out << ' ' << axis << '=' << value;
    return out;
  }
};

/// Latencies from Volta to Blackwell, in cycles, and a third to either side. No bound is so wide
/// that half the right number, or twice as much of a rate, is within.
std::vector<Claim> claims() {
  std::vector<Claim> all{
      {"timer_check", {}, "load_cycles", 20, 50},
      {"latency_vs_footprint", {{"footprint", "8192"}}, "load_cycles", 20, 50},
      {"latency_vs_footprint",
       {{"footprint", "8192"}, {"space", "global_cg"}},
       "load_cycles",
       170,
       450},
      {"latency_vs_footprint", {{"footprint", "268435456"}}, "load_cycles", 380, 1200},
      {"tlb", {{"footprint", "33554432"}, {"stride", "2097152"}}, "load_cycles", 170, 600},
      {"cache_geometry", {{"property", "l1_line"}, {"carveout", "0"}}, "line", 128, 128},
      {"cache_geometry", {{"property", "l1_sector"}, {"carveout", "0"}}, "sector", 32, 32},
      {"l2_partition", {}, "access_cycles", 170, 900},
      {"chip_map", {{"operation", "load"}}, "access_cycles", 170, 450},
      {"l2_placement", {{"order", "near"}, {"part", "65536"}}, "bandwidth_per_sm", 16, 64},
      {"distributed_shared",
       {{"measure", "latency"}, {"cluster", "2"}, {"distance", "1"}, {"warps", "1"}},
       "load_cycles",
       120,
       330},
      {"request_merging", {{"sms", "2"}, {"delay", "160"}}, "first_load_cycles", 170, 900},
      {"layout_traffic",
       {{"generation", "7.x"}, {"layout", "soaoas"}, {"fields", "all"}},
       "moved_over_used",
       32. / 28,
       32. / 28 + 1e-9},
      {"coalescing", {{"width", "4"}, {"stride", "1"}}, "warp_load_cycles", 2, 8},
      {"coalescing", {{"width", "4"}, {"stride", "32"}}, "warp_load_cycles", 16, 100},
      {"stride_gather",
       {{"level", "dram"}, {"pattern", "strided"}, {"width", "16"}, {"stride", "1"}},
       "useful_bandwidth",
       0.6,
       1,
       of_memory},
      {"layout_read",
       {{"layout", "soaoas"}, {"fields", "posmass"}, {"residency", "l1"}, {"cores", "one"}},
       "warp_read_cycles",
       45,
       140},
      {"layout_read",
       {{"layout", "soaoas"}, {"fields", "posmass"}, {"residency", "dram"}, {"cores", "one"}},
       "warp_read_cycles",
       400,
       1500},
      {"short_words",
       {{"element", "4"}, {"group", "16"}, {"order", "coalesced"}, {"access", "together"}},
       "useful_bandwidth",
       0.6,
       1,
       of_memory},
      {"sobel", {{"size", "large"}, {"form", "best"}}, "useful_bandwidth", 0.6, 1, of_memory},
      {"rotation_forward",
       {{"size", "large"}, {"angle", "0"}, {"form", "best"}},
       "useful_bandwidth",
       0.12,
       0.8,
       of_memory},
      {"rotation_backward",
       {{"size", "large"}, {"angle", "0"}, {"form", "best"}},
       "useful_bandwidth",
       0.12,
       0.8,
       of_memory},
      // A term takes a cosine and two conversions, of which an SM does one eighth of its lanes.
      {"dct",
       {{"size", "seed"}, {"form", "original"}},
       "term_rate",
       1.0 / 48,
       1.0 / 16,
       of_multiply_adds},
      {"bank_conflicts",
       {{"operation", "load"}, {"width", "4"}, {"stride", "1"}},
       "shared_load_latency",
       18,
       40},
      {"bank_conflicts",
       {{"operation", "load"}, {"width", "4"}, {"stride", "32"}},
       "warp_access_cycles",
       31.5,
       33},
      {"bank_conflicts",
       {{"operation", "store"}, {"width", "4"}, {"stride", "32"}},
       "warp_access_cycles",
       31.5,
       33},
      {"ceilings",
       {{"arithmetic", "fp32"}, {"form", "alternating"}, {"warps_per_sm", "32"}},
       "share_of_limit",
       0.9,
       1},
      {"issue_mix",
       {{"partner", "none"}, {"multiply_adds", "16"}},
       "multiply_add_cycles",
       0.99,
       2.1},
      {"clock_under_load", {{"mix", "fma"}, {"seconds", "0.1"}}, "instruction_cycles", 0.249, 0.3},
      {"clock_under_load", {{"mix", "fma"}, {"seconds", "0.1"}}, "core_clock", 0.6, 1.03, of_clock},
      {"clock_under_load",
       {{"mix", "memory"}, {"seconds", "0.1"}},
       "read_bandwidth",
       0.6,
       1,
       of_memory},
      {"clock_under_load",
       {{"mix", "tensor"}, {"seconds", "0.1"}},
       "core_clock",
       0.6,
       1.03,
       of_clock},
      {"async_copy",
       {{"residency", "l2"}, {"measure", "latency"}, {"bytes", "256"}},
       "tile_latency",
       250,
       1000},
      {"transfers",
       {{"memory", "pinned"}, {"direction", "to_device"}, {"bytes", "67108864"}},
       "bandwidth",
       4e9,
       9e11},
      {"peer_copy",
       {{"by", "copy_engine"}, {"direction", "read"}, {"bytes", "67108864"}},
       "bandwidth",
       4e9,
       1.8e12},
      {"energy", {{"work", "dram_read"}, {"seconds", "3"}}, "energy", 5e-11, 5e-10},
      {"launch_overhead", {{"launch", "stream"}}, "launch_seconds", 5e-7, 2e-5},
      {"allocation", {{"memory", "device"}, {"bytes", "512"}}, "allocation_seconds", 1e-7, 1e-4},
      {"fragmentation",
       {{"memory", "pool"}, {"bytes", "4194304"}, {"factor", "16"}},
       "failed_requests",
       1,
       1},
      {"context_creation", {{"gpus", "1"}}, "creation_seconds", 0.01, 3},
      {"kernel_boundary",
       {{"launch", "stream"}, {"start", "after_end"}, {"grid", "all_sms"}},
       "boundary_seconds",
       1e-6,
       6e-6},
      {"barriers",
       {{"kind", "block"}, {"warps", "32"}, {"cluster", "1"}},
       "barrier_cycles",
       45,
       140},
      {"fences",
       {{"operation", "load_relaxed"}, {"scope", "gpu"}, {"stores", "0"}},
       "operation_cycles",
       170,
       450},
      {"messages",
       {{"route", "l2"}, {"order", "relaxed"}, {"blocks", "2"}},
       "message_cycles",
       260,
       900},
      {"l2_shared", {{"footprint", "16777216"}}, "bandwidth_per_sm", 20, 65},
      {"slice_camping", {{"spacing", "128"}}, "sector_bandwidth_per_sm", 11, 35},
      {"constant_miss", {{"start", "l2"}, {"stride", "256"}}, "load_cycles", 170, 550},
      {"divergence", {{"paths", "32"}}, "slowdown", 15, 33},
      {"store_latency", {{"after", "load"}}, "round_cycles", 330, 1100},
      {"tensor_rate",
       {{"measure", "rate"}, {"instruction", "mma"}, {"type", "fp16"}, {"a", "registers"}},
       "share_of_limit",
       0.55,
       1.005}};
  for (const auto& [space, low, high] :
       {std::tuple{"shared", 20.0, 60.0}, {"global", 170.0, 800.0}}) {
    all.push_back(
        {"atomics",
         {{"space", space}, {"operation", "add_int"}, {"returns", "yes"}, {"target", "disjoint"}},
         "atomic_latency",
         low,
         high});
  }
  for (const auto& [level, operation] :
       {std::pair{"shared", "write"}, {"shared", "read"}, {"l1", "read"}}) {
    all.push_back({"bandwidth",
                   {{"level", level}, {"operation", operation}, {"width", "16"}},
                   "share_of_limit",
                   0.85,
                   1.005});
  }
  for (const auto& [level, operation] :
       {std::pair{"shared", "write"}, {"l1", "read"}, {"dram", "read"}, {"dram", "write"}}) {
    all.push_back({"peak_bandwidth",
                   {{"level", level}, {"operation", operation}, {"width", "16"}},
                   "share_of_limit",
                   0.85,
                   1.005});
  }
  for (const char* const operation : {"read", "write", "copy", "triad", "update"}) {
    all.push_back({"bandwidth",
                   {{"level", "dram"}, {"operation", operation}, {"width", "16"}},
                   "bandwidth",
                   0.6,
                   1,
                   of_memory});
  }
  // An operation that takes half as long, or twice, is not that operation.
  for (const auto& [operation, cycles] : {std::pair{"ffma", 4.0},
                                          {"iadd3", 4.0},
                                          {"compare_select", 8.0},
                                          {"rcp_approx", 23.0},
                                          {"rcp_ieee", 78.0},
                                          {"rsqrt_approx", 17.0},
                                          {"sqrt_approx", 17.0},
                                          {"sqrt_ieee", 57.0},
                                          {"cos_approx", 23.0},
                                          {"exp2_approx", 17.0},
                                          {"shuffle", 26.0},
                                          {"load_shared", 23.0}}) {
    all.push_back({"instruction_cost",
                   {{"operation", operation}, {"ilp", "1"}, {"warps_per_sm", "1"}},
                   "operation_cycles",
                   cycles / 1.9,
                   cycles * 1.9});
  }
  for (const Enrolled& one : benchmarks()) {
    if (one.cuda == nullptr) continue;
    // No interaction takes fewer than six instructions.
    if (one.benchmark.suite == "nbody") {
      all.push_back({one.benchmark.name,
                     {{"problem", "single"}, {"systems", "1"}, {"bodies", "16384"}},
                     "interactions_per_second",
                     1e-3,
                     1.0 / 6,
                     of_multiply_adds});
    }
    // No agent compares fewer coordinates than three, and no launch takes more than a millisecond
    // for a few thousand.
    if (one.benchmark.suite == "neighbours") {
      all.push_back({one.benchmark.name,
                     {{"problem", "boids"}, {"agents", "4096"}, {"world", "200"}},
                     "steps_per_second",
                     100,
                     250e3});
    }
    // No term takes fewer than 40 instructions, nor a call for one more than a tenth of a second.
    if (one.benchmark.suite == "fstat") {
      all.push_back({one.benchmark.name,
                     {{"cells", "1"}, {"stacks", "2"}},
                     "terms_per_second",
                     1e-9,
                     1.0 / 40,
                     of_multiply_adds});
    }
  }
  return all;
}

std::vector<Case> cases_of(const Claim& claim) {
  SweepEntry entry{.benchmark = claim.benchmark, .axes = {}};
  for (const auto& [axis, value] : claim.axes)
    entry.axes.push_back({axis, {value}});
  return expand({.name = {}, .file = {}, .text = {}, .plan = {}, .entries = {entry}}, Backend::cuda,
                benchmarks());
}

class EveryBenchmark : public testing::TestWithParam<Claim> {};

TEST_P(EveryBenchmark, HasAPlausibleNumber) {
  const Claim& claim = GetParam();
  const CaseRecord record = run_case(cases_of(claim).at(0), Plan{}, gpu(), cache());
  if (record.status == Status::skipped) GTEST_SKIP() << record.reason;
  ASSERT_EQ(record.status, Status::measured) << record.reason;
  for (const Gate& gate : record.gates) {
    if (gate.name == "timer") continue;  // of a tenth of a millisecond, on a busy machine
    EXPECT_NE(gate.verdict, Verdict::failed) << gate.name << ": " << gate.detail;
  }
  const double unit = claim.unit(gpu_facts(gpu().identity().facts));
  if (unit == 0) GTEST_SKIP() << "the device does not report the unit of " << claim.quantity;
  int found = 0;
  for (const Measurement& m : record.measurements) {
    if (m.quantity != claim.quantity) continue;
    ++found;
    EXPECT_GE(median(m.samples) / unit, claim.low) << m.quantity << ' ' << m.method;
    EXPECT_LE(median(m.samples) / unit, claim.high) << m.quantity << ' ' << m.method;
  }
  EXPECT_GT(found, 0) << record.which.id() << " has no " << claim.quantity;
}

INSTANTIATE_TEST_SUITE_P(, EveryBenchmark, testing::ValuesIn(claims()));

TEST(EveryBenchmarkOfTheGpu, HasABoundToBreak) {
  const auto all = claims();
  for (const Claim& claim : all)
    EXPECT_FALSE(cases_of(claim).empty()) << claim;
  for (const Enrolled& one : benchmarks()) {
    if (one.cuda == nullptr) continue;
    EXPECT_NE(std::ranges::find(all, one.benchmark.name, &Claim::benchmark), all.end())
        << one.benchmark.name << ": add the bounds of its number to plausibility_test.cpp";
  }
}

}  // namespace
}  // namespace strata
