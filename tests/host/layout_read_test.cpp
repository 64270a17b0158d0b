#include "micro/access/layout_read.hpp"

#include "harness/case/error.hpp"
#include "harness/case/sweep.hpp"
#include "harness/run/case_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace strata {
namespace {

using layout_read::nearest;
using layout_read::reads_for;
using layout_read::Shape;
using layout_read::shape_for;
using layout_read::start_position;

Params params(const std::string& layout, const std::string& residency, const std::string& fields,
              int warps) {
  return {{"layout", layout}, {"residency", residency}, {"cores", "one"},
          {"fields", fields}, {"block_size", "32"},     {"warps_per_sm", std::to_string(warps)}};
}

TEST(ShapeFor, KeepsEveryPartAMultipleOfTheUnrollAndTheSecondLonger) {
  for (const double reads : {1.0, 80.0, 333.0, 5000.0}) {
    const Shape shape = shape_for(reads, 8, 1U << 20U, 4);
    EXPECT_GT(shape.second, shape.first);
    for (const auto part : {shape.first, shape.second, shape.cooldown}) {
      EXPECT_EQ(part % 4, 0U);
      EXPECT_GT(part, 0U);
    }
  }
}

TEST(ShapeFor, TimesAboutAsManyReadsAsAskedFor) {
  const Shape shape = shape_for(1000, 8, 1U << 20U, 4);
  EXPECT_NEAR(shape.first + shape.second, 1000, 20);
}

TEST(ShapeFor, NeverReadsMoreThanItMay) {
  for (const std::uint64_t most : {40U, 124U, 240U, 1000U}) {
    EXPECT_LE(shape_for(5000, 8, most, 4).total(), most);
    EXPECT_GT(shape_for(5000, 8, most, 4).total(), most / 2);
  }
  EXPECT_THROW((void)shape_for(5000, 8, 20, 4), Skipped);
}

TEST(ReadsFor, GrowFewerWithTheWarpsOnceTheLevelIsFull) {
  EXPECT_DOUBLE_EQ(reads_for(1e-3, 1e9, 100, 10, 1), 10000);
  EXPECT_DOUBLE_EQ(reads_for(1e-3, 1e9, 100, 10, 10), 10000);
  EXPECT_DOUBLE_EQ(reads_for(1e-3, 1e9, 100, 10, 20), 5000);
}

TEST(Medians, AreTakenOfEachNumberOnItsOwn) {
  using layout_read::Observation;
  const auto middle = layout_read::medians({Observation{.cycles = 1, .core_hertz = 30},
                                            Observation{.cycles = 2, .core_hertz = 10},
                                            Observation{.cycles = 9, .core_hertz = 20}});
  EXPECT_EQ(middle.cycles, 2);
  EXPECT_EQ(middle.core_hertz, 20);
}

TEST(Nearest, CountsAcrossTheSeam) {
  EXPECT_EQ(nearest({5, 95, 50}, 100), 10U);
  EXPECT_EQ(nearest({5, 5}, 100), 0U);
  EXPECT_EQ(nearest({5}, 100), 100U);
}

TEST(CyclesOfARead, OfAWarpAloneIsTheSlopeThatCancelsAConstant) {
  const Shape shape{.warmup = 8, .first = 100, .second = 400, .cooldown = 8};
  // 50 cycles a read and 30 cycles for reading the clock, in each part.
  EXPECT_DOUBLE_EQ(
      layout_read::cycles_of_a_read({1000, 1000 + 5030, 1000 + 5030 + 20030}, shape, true), 50);
}

TEST(CyclesOfARead, AmongOtherWarpsIsTheMean) {
  const Shape shape{.warmup = 8, .first = 100, .second = 400, .cooldown = 8};
  EXPECT_DOUBLE_EQ(layout_read::cycles_of_a_read({0, 40000, 50000}, shape, false), 100);
}

TEST(GroupsIn, AreOddAndFit) {
  for (const std::uint64_t bytes : {2048U, 16384U, 32768U, 100000U, 1U << 30U}) {
    const auto groups = layout_read::groups_in(bytes);
    EXPECT_EQ(groups % 2, 1U);
    EXPECT_LE(groups * layout_read::group_bytes, bytes);
    EXPECT_GE((groups + 2) * layout_read::group_bytes, bytes);
  }
}

TEST(Shape, ShortensOnlyTheSecondPart) {
  const Shape shape{.warmup = 8, .first = 16, .second = 64, .cooldown = 12};
  EXPECT_EQ(shape.total() - shape.shortened().total(), slope_reads(shape));
  EXPECT_EQ(shape.shortened().second, shape.first);
}

TEST(StartPosition, GivesWarpsStretchesThatDoNotOverlap) {
  constexpr std::uint32_t sms = 132;
  constexpr std::uint32_t warps = 16;
  constexpr std::uint32_t groups = (1U << 20U) - 1;
  std::vector<std::uint32_t> starts;
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    for (std::uint32_t w = 0; w < warps; ++w) {
      starts.push_back(start_position(sm, w, sms, warps, groups));
      EXPECT_LT(starts.back(), groups);
    }
  }
  EXPECT_GE(nearest(starts, groups), groups / (sms * warps));
}

TEST(StartPosition, KeepsTheWarpsOfAnSmFarApart) {
  for (const std::uint32_t warps : {2U, 48U, 64U}) {
    std::vector<std::uint32_t> starts;
    for (std::uint32_t w = 0; w < warps; ++w) {
      starts.push_back(start_position(77, w, 132, warps, 15359));
    }
    EXPECT_GE(nearest(starts, 15359), 15359 / warps);
  }
}

TEST(LayoutRead, ExcludesWhatHasNoMeaning) {
  const Benchmark benchmark = layout_read::declare();
  auto p = params("aos", "l1", "all", 1);
  EXPECT_FALSE(benchmark.excludes(p, Backend::cuda));
  p["block_size"] = "256";
  EXPECT_TRUE(benchmark.excludes(p, Backend::cuda));  // 8 warps are not 1 warp
  p["warps_per_sm"] = "8";
  EXPECT_FALSE(benchmark.excludes(p, Backend::cuda));
  EXPECT_TRUE(benchmark.excludes(p, Backend::host));
  p = params("aos", "l3", "all", 1);
  EXPECT_TRUE(benchmark.excludes(p, Backend::cuda));
  EXPECT_FALSE(benchmark.excludes(p, Backend::host));
  p = params("aos", "l1", "all", 64);
  p["cores"] = "all";
  EXPECT_TRUE(benchmark.excludes(p, Backend::cuda));  // 64 blocks of one warp
  p = params("aos", "l1", "all", 2);
  EXPECT_TRUE(benchmark.excludes(p, Backend::cuda));  // two blocks cannot be kept on one SM
}

/// Every layout and field set, really measured on this CPU, at the cheapest level.
class OnThisCpu : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(OnThisCpu, MeasuresWithTheRightSums) {
  const auto device = open_host_device();
  Cache cache;
  const Plan plan{.warmups = 1, .min_samples = 6, .max_samples = 6, .seconds_per_case = 0.5};
  const auto [layout, fields] = GetParam();
  const Case which{.suite = "micro",
                   .benchmark = "layout_read",
                   .backend = Backend::host,
                   .params = params(layout, "l1", fields, 1)};
  const CaseRecord record = run_case(which, plan, *device, cache);
  ASSERT_EQ(record.status, Status::measured) << record.reason;
  std::set<std::string> keys;
  for (const auto& m : record.measurements) {
    EXPECT_EQ(m.samples.size(), 6U);
    keys.insert(m.quantity + '/' + m.method);
  }
  EXPECT_EQ(keys.size(), record.measurements.size());
  EXPECT_TRUE(keys.contains("warp_read_cycles/tsc_slope"));
  EXPECT_TRUE(keys.contains("warp_read_cycles_slowest/monotonic_slope"));
  bool checked = false;
  for (const auto& gate : record.gates) {
    if (gate.name != "result") continue;
    checked = true;
    EXPECT_EQ(gate.verdict, Verdict::passed) << gate.detail;
  }
  EXPECT_TRUE(checked);
}

INSTANTIATE_TEST_SUITE_P(AllLayouts, OnThisCpu,
                         testing::Combine(testing::Values("aos", "soa", "aoas", "soaoas",
                                                          "aosoa32"),
                                          testing::Values("all", "posmass")),
                         [](const auto& one) {
                           return std::string{std::get<0>(one.param)} + '_' +
                                  std::get<1>(one.param);
                         });

TEST(TimerCheck, AgreesWithItselfOnThisCpu) {
  const auto device = open_host_device();
  Cache cache;
  const Case which{.suite = "micro",
                   .benchmark = "timer_check",
                   .backend = Backend::host,
                   .params = {{"residency", "l1"}}};
  const Plan plan{.warmups = 1, .min_samples = 6, .max_samples = 6};
  const CaseRecord record = run_case(which, plan, *device, cache);
  ASSERT_EQ(record.status, Status::measured) << record.reason;
  const auto result = std::ranges::find(record.gates, "result", &Gate::name);
  ASSERT_NE(result, record.gates.end());
  EXPECT_EQ(result->verdict, Verdict::passed) << result->detail;
}

}  // namespace
}  // namespace strata
