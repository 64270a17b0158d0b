#include "micro/transfer/launch_overhead.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace strata {
namespace {

using namespace launch_overhead;

TEST(LaunchOverheadSlope, LeavesOutWhatEverySeriesHas) {
  const auto series = [](double launches) {
    return Series{.event = 5e-6 + 2e-6 * launches,
                  .wall = 2e-5 + 2.5e-6 * launches,
                  .calls = 1e-6 + 1.5e-6 * launches};
  };
  const Observation seen = observation_of(series(few), series(many));
  EXPECT_NEAR(seen.event_seconds, 2e-6, 1e-15);
  EXPECT_NEAR(seen.wall_seconds, 2.5e-6, 1e-15);
  EXPECT_NEAR(seen.call_seconds, 1.5e-6, 1e-15);
}

TEST(LaunchOverheadTokens, TellLaunchesApart) {
  std::set<std::uint32_t> tokens;
  for (std::uint32_t launch = 0; launch < many; ++launch)
    tokens.insert(token(launch));
  EXPECT_EQ(tokens.size(), many);
  EXPECT_EQ(tokens.count(0xA5A5A5A5U), 0U);  // what is there before
}

TEST(LaunchOverheadDeclaration, IsKnownToEveryBuild) {
  EXPECT_NE(find_benchmark("launch_overhead"), nullptr);
}

}  // namespace
}  // namespace strata
