// The arithmetic of this CPU, really measured: its ends are those of multiply-adds one at a time.
#include "harness/record/device.hpp"
#include "harness/run/case_runner.hpp"
#include "micro/compute/ceilings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace strata {
namespace {

class CeilingsOnThisCpu : public testing::TestWithParam<const char*> {};

TEST_P(CeilingsOnThisCpu, MeasuresWithTheRightEnds) {
  const auto device = open_host_device();
  Cache cache;
  const Plan plan{.warmups = 0, .min_samples = 6, .max_samples = 6};
  const Case which{
      .suite = "micro",
      .benchmark = "ceilings",
      .backend = Backend::host,
      .params = {{"arithmetic", GetParam()}, {"form", "steady"}, {"warps_per_sm", "32"}}};
  const CaseRecord record = run_case(which, plan, *device, cache);
  if (record.status == Status::skipped) GTEST_SKIP() << record.reason;
  ASSERT_EQ(record.status, Status::measured) << record.reason;
  std::set<std::string> quantities;
  for (const auto& m : record.measurements) {
    quantities.insert(m.quantity);
    EXPECT_NE(m.provenance, Provenance::modelled) << "a CPU's limit is unknown";
  }
  EXPECT_TRUE(quantities.contains("flops_per_second"));
  EXPECT_TRUE(quantities.contains("flops_per_second_of_one_core"));
  const auto result = std::ranges::find(record.gates, "result", &Gate::name);
  ASSERT_NE(result, record.gates.end());
  EXPECT_EQ(result->verdict, Verdict::passed) << result->detail;
}

INSTANTIATE_TEST_SUITE_P(Kinds, CeilingsOnThisCpu, testing::Values("fp32", "fp64"));

}  // namespace
}  // namespace strata
