#include "micro/transfer/launch_overhead.hpp"

#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace strata::launch_overhead {
namespace {

TEST(LaunchOverheadSlope, LeavesOutWhatEverySeriesHas) {
  const auto series = [](double launches) {
    return BothSides{.device = 5e-6 + 2e-6 * launches,
                     .caller = 2e-5 + 2.5e-6 * launches,
                     .calls = 1e-6 + 1.5e-6 * launches};
  };
  const auto numbers = numbers_of(series(few), series(many), 7e-6);
  ASSERT_EQ(numbers.size(), 4U);
  EXPECT_NEAR(numbers[0], 2e-6, 1e-15);
  EXPECT_NEAR(numbers[1], 2.5e-6, 1e-15);
  EXPECT_NEAR(numbers[2], 1.5e-6, 1e-15);
  EXPECT_EQ(numbers[3], 7e-6);
}

TEST(LaunchOverheadRows, AreThoseThatHaveAMeaning) {
  const Sample sample{.numbers = {1, 2, 3, 4}};
  for (const How how : {How::stream, How::graph, How::synchronised}) {
    const auto rows = rows_of(describe(how), cuda_timers, sample);
    EXPECT_EQ(rows.at("launch_seconds by event_slope").value, 1);
    EXPECT_EQ(rows.at("launch_seconds by wall_slope").value, 2);
    EXPECT_EQ(rows.contains("call_seconds by wall_slope"), how == How::stream);
    EXPECT_EQ(rows.contains("alone_seconds by wall"), how != How::synchronised);
    if (how == How::stream) {
      EXPECT_EQ(rows.at("call_seconds by wall_slope").value, 3);
    }
    if (how != How::synchronised) {
      EXPECT_EQ(rows.at("alone_seconds by wall").value, 4);
    }
    for (const auto& [name, row] : rows)
      EXPECT_EQ(row.unit, "s") << name;
    EXPECT_EQ(rows.size(), how == How::stream ? 4U : how == How::graph ? 3U : 2U);
  }
}

TEST(LaunchOverheadGates, CompareTheDeviceWithTheCaller) {
  const Experiment experiment = describe(How::stream);
  EXPECT_EQ(verdict_of("timer", experiment, {{.numbers = {1, 1.01, 3, 4}}}), Verdict::passed);
  EXPECT_EQ(verdict_of("timer", experiment, {{.numbers = {1, 1.05, 3, 4}}}), Verdict::failed);
  EXPECT_EQ(verdict_of("repeat", experiment, {{.numbers = {1, 1, 3, 4}}}), Verdict::unverified);
}

TEST(LaunchOverheadTokens, TellLaunchesApart) {
  std::set<std::uint32_t> tokens;
  for (std::uint32_t launch = 0; launch < many; ++launch)
    tokens.insert(token(launch));
  EXPECT_EQ(tokens.size(), many);
  EXPECT_EQ(tokens.count(0xA5A5A5A5U), 0U);  // what is there before
}

TEST(LaunchOverheadSamples, AreMediansOfSeveralSeries) {
  for (const How how : {How::stream, How::graph, How::synchronised})
    EXPECT_GE(describe(how).pairs, 3);
}

TEST(LaunchOverheadDeclaration, IsKnownToEveryBuild) {
  EXPECT_NE(find_benchmark("launch_overhead"), nullptr);
}

}  // namespace
}  // namespace strata::launch_overhead
