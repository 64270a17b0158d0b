// The CPU's counter and its calibration.
#include "harness/cpu/tsc.hpp"

#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace strata {
namespace {

TEST(Tsc, NeverRunsBackwardsOnOneCore) {
  const Finally pin = pin_to(allowed_cpus().front());
  std::uint64_t last = tsc_now();
  double last_seconds = monotonic_raw_seconds();
  for (int i = 0; i < 10'000; ++i) {
    const auto now = tsc_now();
    ASSERT_GE(now, last);
    last = now;
    const double seconds = monotonic_raw_seconds();
    ASSERT_GE(seconds, last_seconds);
    last_seconds = seconds;
  }
}

TEST(Tsc, TicksAsTheCalibrationSays) {
  using Clock = std::chrono::steady_clock;
  // Another process may hold the core between two reads, so the best of some tries counts.
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 10 && least > 0.01; ++i) {
    const auto began = Clock::now();
    const auto start = tsc_now();
    while (Clock::now() - began < std::chrono::milliseconds{20}) {
    }
    const auto stop = tsc_now();
    const std::chrono::duration<double> elapsed = Clock::now() - began;
    const double seconds = static_cast<double>(stop - start) / tsc_hertz();
    least = std::min(least, std::abs(seconds / elapsed.count() - 1));
  }
  EXPECT_LT(least, 0.01);
}

TEST(Tsc, CalibrationSaysHowSureItIs) {
  const auto calibration = tsc_calibration();
  EXPECT_GT(calibration.hertz, 1e6);
  EXPECT_LT(calibration.hertz, 1e10);
  EXPECT_GE(calibration.relative_spread, 0);
  EXPECT_TRUE(std::isfinite(calibration.relative_spread));
  EXPECT_EQ(&tsc_calibration(), &tsc_calibration()) << "made once";
}

}  // namespace
}  // namespace strata
