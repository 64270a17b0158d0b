// The arithmetic of this CPU, really measured: its ends are those of multiply-adds one at a time.
#include "case_here.hpp"
#include "micro/compute/ceilings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace strata {
namespace {

class CeilingsOnThisCpu : public testing::TestWithParam<const char*> {};

TEST_P(CeilingsOnThisCpu, MeasuresWithTheRightEnds) {
  const CaseRecord record = measure_here(
      "ceilings", {{"arithmetic", GetParam()}, {"form", "steady"}, {"warps_per_sm", "32"}});
  if (record.status == Status::skipped) GTEST_SKIP() << record.reason;
  std::set<std::string> quantities;
  for (const auto& m : record.measurements) {
    quantities.insert(m.quantity);
    EXPECT_NE(m.provenance, Provenance::modelled) << "a CPU's limit is unknown";
  }
  EXPECT_TRUE(quantities.contains("flops_per_second"));
  EXPECT_TRUE(quantities.contains("flops_per_second_of_one_core"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, CeilingsOnThisCpu, testing::Values("fp32", "fp64"));

}  // namespace
}  // namespace strata
