#include "harness/record/device_facts.hpp"

#include "harness/base/error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace strata {
namespace {

Facts facts_of_a_gpu() {
  return {{"sm_count", std::int64_t{132}},
          {"l2_bytes", std::int64_t{62914560}},
          {"memory_bytes", std::int64_t{1} << 36U},
          {"shared_bytes_per_sm", std::int64_t{233472}},
          {"shared_bytes_per_block_optin", std::int64_t{232448}},
          {"compute_capability", std::string{"12.1"}},
          {"core_clock_peak_hz", 1.98e9},
          {"dram_bytes_per_second_theoretical", 0.0}};
}

TEST(GpuFacts, AreFoundByTheirNames) {
  const GpuFacts gpu = gpu_facts(facts_of_a_gpu());
  EXPECT_EQ(gpu.sms, 132U);
  EXPECT_EQ(gpu.l2_bytes, 62914560U);
  EXPECT_EQ(gpu.shared_per_block, 232448U);
  EXPECT_EQ(gpu.compute_capability, "12.1");
  EXPECT_EQ(gpu.major, 12);
  EXPECT_EQ(gpu.minor, 1);
  EXPECT_EQ(gpu.core_clock_peak, 1.98e9);
}

TEST(GpuFacts, AreAboveNothing) {
  EXPECT_EQ(gpu_facts(facts_of_a_gpu()).dram_pin_bandwidth, std::nullopt);
  Facts facts = facts_of_a_gpu();
  facts["l2_bytes"] = std::int64_t{0};
  EXPECT_THROW((void)gpu_facts(facts), Skipped);
  EXPECT_EQ(cpu_facts({{"l1d_bytes", std::int64_t{0}}}).l1_bytes, std::nullopt);
}

TEST(GpuFacts, NeedACapability) {
  Facts facts = facts_of_a_gpu();
  facts.erase("compute_capability");
  EXPECT_THROW((void)gpu_facts(facts), Skipped);
}

TEST(CpuFacts, TellALineFromASize) {
  const CpuFacts cpu = cpu_facts({{"l1d_bytes", std::int64_t{49152}},
                                  {"l2_bytes", std::int64_t{2097152}},
                                  {"line_bytes", std::int64_t{64}}});
  EXPECT_EQ(cpu.l1_bytes, 49152U);
  EXPECT_EQ(cpu.l2_bytes, 2097152U);
  EXPECT_EQ(cpu.l3_bytes, std::nullopt);
  EXPECT_EQ(cpu.line_bytes, 64U);
}

}  // namespace
}  // namespace strata
