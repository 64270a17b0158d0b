// layout_read and timer_check on the GPU: what must hold of every measurement, whatever its value.
#include "harness/base/error.hpp"
#include "harness/record/statistics.hpp"
#include "harness/run/case_runner.hpp"
#include "tests/gpu/settled_gpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace strata {
namespace {

const Plan plan{.warmups = 1, .min_samples = 7, .max_samples = 15};

CaseRecord measure(const std::string& benchmark, const Params& params) {
  return run_case(
      {.suite = "micro", .benchmark = benchmark, .backend = Backend::cuda, .params = params}, plan,
      gpu(), cache());
}

Params layout_params(const std::string& layout, const std::string& residency,
                     const std::string& fields, int block, int warps) {
  return {{"layout", layout},
          {"residency", residency},
          {"cores", "all"},
          {"fields", fields},
          {"block_size", std::to_string(block)},
          {"warps_per_sm", std::to_string(warps)}};
}

const Measurement& row(const CaseRecord& record, const std::string& quantity,
                       const std::string& method) {
  const auto found = std::ranges::find_if(record.measurements, [&](const Measurement& m) {
    return m.quantity == quantity && m.method == method;
  });
  if (found == record.measurements.end()) throw std::runtime_error{"no " + quantity};
  return *found;
}

void expect_gates(const CaseRecord& record) {
  ASSERT_EQ(record.status, Status::measured) << record.reason;
  for (const auto& gate : record.gates) {
    EXPECT_NE(gate.verdict, Verdict::failed)
        << record.which.id() << ' ' << gate.name << ": " << gate.detail;
  }
}

TEST(TimerCheckOnGpu, AllTimersAgreeOnADependentChainOfL1Hits) {
  const auto record = measure("timer_check", {{"residency", "l1"}});
  expect_gates(record);
  const auto& cycles = row(record, "load_cycles", "clock64_slope").samples;
  // No chip since Volta takes less than 20 or more than 50 cycles: 3 would be a folded dependency.
  EXPECT_GT(median(cycles), 20);
  EXPECT_LT(median(cycles), 50);
}

TEST(LayoutReadOnGpu, EveryLayoutAndFieldSetGivesTheHostsSumsAtEveryLevel) {
  for (const char* residency : {"l1", "l2", "dram"}) {
    for (const char* layout : {"aos", "soa", "aoas", "soaoas", "aosoa32"}) {
      for (const char* fields : {"all", "posmass"}) {
        expect_gates(measure("layout_read", layout_params(layout, residency, fields, 32, 1)));
      }
    }
  }
}

TEST(LayoutReadOnGpu, FillsEverySmEvenlyAtEveryBlockSize) {
  for (const auto& [block, warps] : std::vector<std::pair<int, int>>{
           {32, 1}, {32, 3}, {32, 32}, {128, 48}, {256, 64}, {1024, 32}, {1024, 64}}) {
    const char* const level = warps > 32 ? "l1" : "l2";  // more would meet in L2
    expect_gates(measure("layout_read", layout_params("soaoas", level, "all", block, warps)));
  }
}

TEST(LayoutReadOnGpu, LetsNoTwoWarpsOfAnSmReadTheSameLinesInL2) {
  // The level gate fails when they start closer together than they walk.
  for (const int warps : {8, 16, 32}) {
    expect_gates(measure("layout_read", layout_params("soa", "l2", "all", 128, warps)));
  }
}

TEST(LayoutReadOnGpu, FartherLevelsTakeLonger) {
  std::vector<double> cycles;
  for (const char* residency : {"l1", "l2", "dram"}) {
    const auto record = measure("layout_read", layout_params("soaoas", residency, "all", 32, 1));
    cycles.push_back(median(row(record, "warp_read_cycles", "clock64_slope").samples));
  }
  EXPECT_LT(cycles[0] * 1.5, cycles[1]);
  EXPECT_LT(cycles[1] * 1.2, cycles[2]);
}

TEST(LayoutReadOnGpu, NeedsNoMoreCyclesThanItReports) {
  // The arithmetic alone can never take longer than the read that contains it.
  const auto record = measure("layout_read", layout_params("aos", "l1", "all", 32, 1));
  EXPECT_LT(median(row(record, "arithmetic_cycles", "clock64_slope").samples),
            median(row(record, "warp_read_cycles", "clock64_slope").samples));
}

TEST(LayoutReadOnGpu, SkipsAThirdLevelOfCacheWithAReason) {
  const auto record = measure("layout_read", layout_params("aos", "l3", "all", 32, 1));
  EXPECT_EQ(record.status, Status::skipped);
  EXPECT_FALSE(record.reason.empty());
}

}  // namespace
}  // namespace strata
