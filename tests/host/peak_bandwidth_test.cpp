#include "micro/bandwidth/peak_bandwidth.cu"

#include "example_gpu.hpp"
#include "harness/base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace strata::peak_bandwidth {
namespace {

using bandwidth::LaunchShape;
using bandwidth::Level;
using bandwidth::Operation;

constexpr std::uint64_t mebi = 1U << 20U;

GpuFacts h100() {
  GpuFacts gpu = example_gpu();
  gpu.l2_bytes = 50 * mebi;
  return gpu;
}

std::vector<LaunchShape> cases() {
  std::vector<LaunchShape> all;
  for (const Level level : {Level::shared, Level::l1, Level::l2, Level::dram}) {
    for (const Operation operation :
         {Operation::read, Operation::write, Operation::copy, Operation::triad}) {
      if (level == Level::l1 && operation != Operation::read) continue;
      for (const std::uint32_t width : {4U, 8U, 16U})
        all.push_back({.level = level, .operation = operation, .width = width});
    }
  }
  return all;
}

TEST(PeakBandwidthShapes, FitAnSmAndHaveAKernel) {
  for (const LaunchShape& which : cases()) {
    for (const LaunchShape& shape : shapes_for(which)) {
      EXPECT_EQ(std::tie(shape.level, shape.operation, shape.width),
                std::tie(which.level, which.operation, which.width));
      EXPECT_EQ(bandwidth::no_kernel(shape.level, shape.operation, shape.width, shape.in_flight),
                nullptr);
      const std::uint32_t threads = shape.block_size * shape.blocks_per_sm;
      EXPECT_LE(threads, 2048U);
      EXPECT_LE(threads * bandwidth::words_held(shape.operation, shape.width, shape.in_flight),
                65536U);
      EXPECT_GE(threads * shape.in_flight * shape.width, 32768U);
    }
  }
}

TEST(PeakBandwidthShapes, AreManyOfEachCaseAndIncludeFullSms) {
  for (const LaunchShape& which : cases()) {
    const auto plans = plans_for(shapes_for(which), h100());
    EXPECT_LE(plans.size(), 42U);
    const bool is_far = which.level == Level::l2 || which.level == Level::dram;
    EXPECT_GE(plans.size(), is_far ? 12U : 3U);
    std::set<std::uint32_t> waves;
    std::set<std::uint32_t> threads;
    for (const auto& plan : plans) {
      waves.insert(plan.shape.waves);
      threads.insert(plan.shape.block_size * plan.shape.blocks_per_sm);
    }
    EXPECT_EQ(waves.size(), is_far ? 2U : 1U);
    EXPECT_TRUE(threads.contains(2048));
  }
}

TEST(PeakBandwidthShapes, HaveSeparateDataOfEachBlockInL2) {
  const LaunchShape read{.level = Level::l2, .operation = Operation::read};
  GpuFacts gpu = h100();
  gpu.l2_bytes = 9 * mebi;  // half of it holds 34 KiB per SM
  const auto plans = plans_for(shapes_for(read), gpu);
  for (const auto& plan : plans) {
    EXPECT_EQ(plan.pattern.pieces, gpu.sms * plan.shape.blocks_per_sm);
    EXPECT_LE(plan.array_bytes, gpu.l2_bytes / 2);
  }
  gpu.l2_bytes = 4 * mebi;
  EXPECT_THROW((void)plans_for(shapes_for(read), gpu), Skipped);
}

TEST(PeakBandwidthShapes, KeepOnePiecePerBlockOfMemory) {
  const LaunchShape read{.level = Level::dram, .operation = Operation::read};
  const auto plans = plans_for(shapes_for(read), h100());
  EXPECT_TRUE(std::ranges::any_of(plans, [](const auto& plan) {
    return plan.pattern.block_base == plan.pattern.span && plan.shape.in_flight >= 4 &&
           plan.shape.block_size * plan.shape.blocks_per_sm >= 1024;
  }));
}

/// Rates by shape, and how often each was tried.
struct Trials {
  std::vector<double> rates;
  std::map<std::size_t, int> tried{};
  std::size_t winner = find_fastest(rates.size(), [this](std::size_t i) {
    ++tried[i];
    return rates[i];
  });
};

TEST(PeakBandwidthSearch, TakesTheFirstWithinHalfAPercentOfTheFastest) {
  EXPECT_EQ((Trials{{90, 99.6, 99.4, 100}}.winner), 1U);
  EXPECT_EQ((Trials{{90, 99.4, 99.3, 100}}.winner), 3U);
  EXPECT_EQ((Trials{{7}}.winner), 0U);
}

TEST(PeakBandwidthSearch, TriesThosePastThreePercentOnlyOnce) {
  const Trials trials{{96.9, 97.1, 100, 0}};
  EXPECT_EQ(trials.tried, (std::map<std::size_t, int>{{0, 1}, {1, 6}, {2, 6}, {3, 1}}));
}

TEST(PeakBandwidthSearch, IsNotMisledByOneLuckyTrial) {
  std::map<std::size_t, int> tried;
  const auto winner = find_fastest(3, [&](std::size_t i) {
    const int trial = tried[i]++;
    if (i == 2) return trial < 2 ? 102.0 : 98.0;  // the first trial and one of the next five
    return i == 1 ? 100.0 : 99.0;
  });
  EXPECT_EQ(winner, 1U);
}

TEST(PeakBandwidthSearch, IsSkippedIfNoShapeRuns) {
  EXPECT_THROW((void)find_fastest(2, [](std::size_t) { return 0.0; }), Skipped);
}

}  // namespace
}  // namespace strata::peak_bandwidth
