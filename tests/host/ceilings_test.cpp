#include "micro/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace strata {
namespace {

using namespace ceilings;

constexpr double sms_h200 = 132;
constexpr double hertz_h200 = 1.98e9;

double peak(const char* capability, const char* kind, double sms, double hertz) {
  return sms * hertz * lanes_per_sm(capability, kind).value() * kind_of(kind).operations;
}

// NVIDIA H100 Tensor Core GPU Architecture, Table 2 (SXM5): 66.9 TFLOP/s of FP32, 33.5 of FP64,
// 133.8 of FP16 and BF16 without tensor cores.
TEST(CeilingsLimit, OfAHopperIsTheWhitePapers) {
  EXPECT_NEAR(peak("9.0", "fp32", sms_h200, hertz_h200), 66.9e12, 0.1e12);
  EXPECT_NEAR(peak("9.0", "fp64", sms_h200, hertz_h200), 33.5e12, 0.1e12);
  EXPECT_NEAR(peak("9.0", "fp16x2", sms_h200, hertz_h200), 133.8e12, 0.1e12);
  EXPECT_NEAR(peak("9.0", "bf16x2", sms_h200, hertz_h200), 133.8e12, 0.1e12);
}

// NVIDIA A100 Tensor Core GPU Architecture, Table 1: 108 SMs at 1410 MHz.
TEST(CeilingsLimit, OfAnA100IsTheWhitePapers) {
  EXPECT_NEAR(peak("8.0", "fp32", 108, 1.41e9), 19.5e12, 0.1e12);
  EXPECT_NEAR(peak("8.0", "fp64", 108, 1.41e9), 9.7e12, 0.1e12);
  EXPECT_NEAR(peak("8.0", "fp16x2", 108, 1.41e9), 78e12, 0.1e12);
  EXPECT_NEAR(peak("8.0", "bf16x2", 108, 1.41e9), 39e12, 0.1e12);
}

TEST(CeilingsLimit, IsLeftOutWhereTheGuideIsSilent) {
  EXPECT_FALSE(lanes_per_sm("9.0", "int8_dp4a"));
  EXPECT_FALSE(lanes_per_sm("7.5", "bf16x2"));
  EXPECT_FALSE(lanes_per_sm("6.0", "fp32"));
  EXPECT_FALSE(lanes_per_sm("9.0", "fp8"));
}

TEST(CeilingsKinds, AreMadeOfKnownOperations) {
  for (const auto& kind : kinds) {
    EXPECT_NE(std::ranges::find(operations::Operations::names, kind.operation),
              operations::Operations::names.end())
        << kind.name;
    EXPECT_EQ(&kind_of(kind.name), &kind);
  }
  EXPECT_THROW((void)kind_of("fp8"), std::out_of_range);
}

TEST(CeilingsDeclaration, IsKnownToEveryBuildAndCountsItsWork) {
  const auto* const found = find_benchmark("ceilings");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->benchmark.counter_sets, ::testing::ElementsAre("flops"));
  EXPECT_EQ(found->benchmark.axis("arithmetic")->choices.size(), kinds.size());
}

}  // namespace
}  // namespace strata
