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

TEST(FirstNumbers, PreferTheSearchOverShapesToTheHighestListedShape) {
  RunContext context;
  context.backend = Backend::cuda;
  const auto numbers = first_numbers(
      context, {read_of("bandwidth", "l2", 9e12), read_of("peak_bandwidth", "l2", 8e12),
                read_of("bandwidth", "dram", 4e12)});
  EXPECT_EQ(numbers,
            (std::vector<std::string>{"L2 bandwidth, reading                     8.00 TB/s",
                                      "DRAM bandwidth, reading                   4.00 TB/s"}));
}

RunContext context_of_a_gpu() {
  RunContext context;
  context.backend = Backend::cuda;
  context.device.facts = {{"l2_bytes", std::int64_t{50 << 20}}};
  return context;
}

TEST(FirstNumbers, TakeListedShapesWhereNoSearchIsValid) {
  CaseRecord search = read_of("peak_bandwidth", "l2", 8e12);
  search.gates = {{"clock", Verdict::failed, "moved"}};
  EXPECT_EQ(first_numbers(context_of_a_gpu(), {search, read_of("bandwidth", "l2", 9e12)}),
            (std::vector<std::string>{"L2 bandwidth, reading                     9.00 TB/s"}));
}

CaseRecord copies_of(const std::string& method, const std::string& cluster, double rate) {
  CaseRecord record = read_of("async_copy", "", rate);
  record.which.params = {{"residency", "l2"}, {"method", method}, {"cluster", cluster}};
  return record;
}

TEST(FirstNumbers, TakeAHigherRateOfCopiesThatCannotHitL1) {
  CaseRecord stream = read_of("bandwidth", "l2", 8e12);
  stream.measurements.front().samples = {7.9e12, 8e12, 8.2e12};
  const std::string listed{"L2 bandwidth, reading                     8.00 TB/s"};
  const auto with = [&stream](const CaseRecord& other) {
    return first_numbers(context_of_a_gpu(), {stream, other}).front();
  };
  EXPECT_EQ(with(copies_of("bulk", "1", 8.3e12)),
            "L2 bandwidth, reading                     8.30 TB/s  by async_copy");
  EXPECT_EQ(with(copies_of("bulk", "1", 8.1e12)), listed);  // within the interval
  EXPECT_EQ(with(copies_of("bulk", "2", 9e12)), listed);
  EXPECT_EQ(with(copies_of("registers", "1", 9e12)), listed);
  EXPECT_EQ(first_numbers(context_of_a_gpu(), {stream, copies_of("tensor", "1", 9e12),
                                               read_of("peak_bandwidth", "l2", 8.5e12)}),
            (std::vector<std::string>{"L2 bandwidth, reading                     8.50 TB/s"}));
}

TEST(FirstNumbers, TakeAHigherRateOfLoadsOnlyIfCountersProveItsLevel) {
  const auto with = [](double l1, double l2) {
    CaseRecord loads = read_of("layout_read", "", 9e12);
    loads.which.params = {{"residency", "l2"}};
    loads.measurements.front().quantity = "useful_bandwidth";
    const auto count = [&loads](const char* share, double value) {
      loads.measurements.push_back({share, "1", Provenance::counted, "cupti_net", {value}});
    };
    count("l1_hit_share", l1);
    if (l2 > 0) count("l2_hit_share", l2);
    return first_numbers(context_of_a_gpu(), {read_of("bandwidth", "l2", 8e12), loads}).front();
  };
  const std::string listed{"L2 bandwidth, reading                     8.00 TB/s"};
  EXPECT_EQ(with(0.005, 0.995),
            "L2 bandwidth, reading                     9.00 TB/s  by layout_read");
  EXPECT_EQ(with(0.02, 0.995), listed);
  EXPECT_EQ(with(0.005, 0.98), listed);
  EXPECT_EQ(with(0.005, 0), listed);  // not counted
}

CaseRecord chase_in_l2(const std::string& cores, double cycles) {
  CaseRecord record = chase_of(1 << 20, cycles);
  record.which.backend = Backend::cuda;
  record.which.params["space"] = "global_cg";
  record.which.params["cores"] = cores;
  record.measurements.front().unit = "cycle";
  return record;
}

TEST(FirstNumbers, TakeTheLatencyOfL2OverAllSms) {
  EXPECT_EQ(
      first_numbers(context_of_a_gpu(), {chase_in_l2("one", 250), chase_in_l2("several", 280)}),
      (std::vector<std::string>{"L2 latency                             280.0 cycles"}));
  EXPECT_EQ(first_numbers(context_of_a_gpu(), {chase_in_l2("one", 250)}),
            (std::vector<std::string>{"L2 latency                    250.0 cycles (100 ns)"}));
}

TEST(FirstNumbers, AreNoneWithoutMeasurements) {
  EXPECT_TRUE(first_numbers(context_of_a_cpu(), {}).empty());
}

}  // namespace
}  // namespace strata
