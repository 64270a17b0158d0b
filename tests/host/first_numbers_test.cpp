#include "harness/run/first_numbers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata {
namespace {

CaseRecord chase_of(int footprint, double cycles, Verdict verdict = Verdict::passed) {
  CaseRecord record;
  record.which = {"micro",
                  "latency_vs_footprint",
                  Backend::host,
                  {{"space", "memory"}, {"footprint", std::to_string(footprint)}}};
  record.status = Status::measured;
  record.gates = {{"clock", verdict, "the clock moved by 9 %"}};
  record.measurements = {
      {"load_cycles", "tsc_cycle", Provenance::timed, "tsc_slope", {cycles}},
      {"load_time", "s", Provenance::timed, "monotonic_slope", {cycles * 0.4e-9}}};
  return record;
}

RunContext context_of_a_cpu() {
  RunContext context;
  context.device.facts = {{"l1d_bytes", std::int64_t{32768}}, {"l2_bytes", std::int64_t{1 << 20}}};
  return context;
}

TEST(FirstNumbers, TakeTheMedianOfTheValidCasesOfALevel) {
  const auto numbers =
      first_numbers(context_of_a_cpu(), {chase_of(1024, 4), chase_of(2048, 5), chase_of(4096, 6),
                                         chase_of(8192, 1, Verdict::failed), chase_of(32768, 900)});
  EXPECT_EQ(numbers,
            std::vector<std::string>{"L1 latency                5.00 TSC cycles (2.00 ns)"});
}

TEST(FirstNumbers, ShowALevelWithoutAValidCaseAsInvalidWithTheReason) {
  const auto numbers =
      first_numbers(context_of_a_cpu(), {chase_of(1024, 4, Verdict::failed), chase_of(131072, 14)});
  EXPECT_EQ(
      numbers,
      (std::vector<std::string>{
          "L1 latency                                  invalid  clock: the clock moved by 9 %",
          "L2 latency               14.00 TSC cycles (5.60 ns)"}));
}

CaseRecord read_of(const std::string& benchmark, const std::string& level, double rate) {
  CaseRecord record;
  record.which = {"micro", benchmark, Backend::cuda, {{"level", level}, {"operation", "read"}}};
  record.status = Status::measured;
  record.measurements = {{"bandwidth", "B/s", Provenance::timed, "event_slope", {rate}}};
  return record;
}

TEST(FirstNumbers, TakeTheBandwidthsOfAGpuFromTheSearchOverShapesAlone) {
  RunContext context;
  context.backend = Backend::cuda;
  const auto numbers = first_numbers(
      context, {read_of("bandwidth", "l2", 9e12), read_of("peak_bandwidth", "l2", 8e12),
                read_of("bandwidth", "dram", 4e12)});
  EXPECT_EQ(numbers,
            std::vector<std::string>{"L2 bandwidth, reading                     8.00 TB/s"});
}

CaseRecord chase_in_l2(const std::string& cores, double cycles) {
  CaseRecord record = chase_of(1 << 20, cycles);
  record.which.backend = Backend::cuda;
  record.which.params["space"] = "global_cg";
  record.which.params["cores"] = cores;
  record.measurements.front().unit = "cycle";
  return record;
}

TEST(FirstNumbers, PreferTheLatencyOfL2OverAllSms) {
  RunContext context;
  context.backend = Backend::cuda;
  context.device.facts = {{"l2_bytes", std::int64_t{50 << 20}}};
  EXPECT_EQ(first_numbers(context, {chase_in_l2("one", 280), chase_in_l2("several", 282)}),
            std::vector<std::string>{"L2 latency                             282.0 cycles"});
  EXPECT_EQ(first_numbers(context, {chase_in_l2("one", 280)}),
            std::vector<std::string>{"L2 latency                    280.0 cycles (112 ns)"});
}

TEST(FirstNumbers, AreNoneWithoutMeasurements) {
  EXPECT_TRUE(first_numbers(context_of_a_cpu(), {}).empty());
}

}  // namespace
}  // namespace strata
