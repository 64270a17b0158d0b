#include "harness/measure/protocol.hpp"

#include <gtest/gtest.h>

#include <string>

namespace strata {
namespace {

/// Records the calls of the protocol, and answers from a list.
struct CollectedDevice {
  std::string calls;
  std::vector<double> answers;
  std::size_t next = 0;

  void prepare() { calls += 'p'; }
  double observe() {
    calls += 'o';
    return answers.empty() ? 1.0 : answers[next++ % answers.size()];
  }
  static std::vector<double> watched(double seen) { return {seen}; }
};

/// A clock that moves on by `step` seconds each time it is read.
struct FakeClock {
  double step = 0;
  double now = 0;
  std::chrono::steady_clock::time_point operator()() {
    now += step;
    return std::chrono::steady_clock::time_point{
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double>{now})};
  }
};

const Plan plan{.warmups = 2,
                .min_samples = 6,
                .max_samples = 20,
                .relative_half_width = 0.01,
                .seconds_per_case = 100};

TEST(Collect, PreparesBeforeEveryObservationAndKeepsNoWarmup) {
  CollectedDevice fake{.calls = {}, .answers = {9, 9, 1, 1, 1, 1, 1, 1}};
  const auto result = collect(fake, plan, FakeClock{});
  EXPECT_EQ(fake.calls, "popopopopopopopo");  // two warm-ups, six kept
  EXPECT_EQ(result.kept, (std::vector<double>{1, 1, 1, 1, 1, 1}));
}

TEST(Collect, StopsAsSoonAsTheMedianIsKnownWellEnough) {
  CollectedDevice fake{.calls = {}, .answers = {100, 100.5}};
  const auto result = collect(fake, plan, FakeClock{});
  EXPECT_EQ(result.stop, Stop::precise);
  EXPECT_EQ(result.kept.size(), 6U);
}

TEST(Collect, GoesOnWhileTheIntervalIsWideAndStopsAtTheCap) {
  CollectedDevice fake{.calls = {}, .answers = {1, 2}};
  const auto result = collect(fake, plan, FakeClock{});
  EXPECT_EQ(result.stop, Stop::sample_cap);
  EXPECT_EQ(result.kept.size(), 20U);
}

TEST(Collect, StopsWhenTheTimeIsUpButNeverBeforeTheFewestSamples) {
  CollectedDevice fake{.calls = {}, .answers = {1, 2}};
  const auto result = collect(fake, plan, FakeClock{.step = 1000});
  EXPECT_EQ(result.stop, Stop::time_cap);
  EXPECT_EQ(result.kept.size(), 6U);
}

TEST(Collect, WatchesEverySeriesAndNotOnlyTheFirst) {
  struct TwoSeries {
    int turn = 0;
    void prepare() {}
    int observe() { return turn++; }
    static std::vector<double> watched(int seen) { return {5.0, seen % 2 == 0 ? 1.0 : 2.0}; }
  } fake;
  EXPECT_EQ(collect(fake, plan, FakeClock{}).stop, Stop::sample_cap);
}

TEST(Collect, KeepsOutliersInTheOrderTaken) {
  CollectedDevice fake{.calls = {}, .answers = {7, 7, 1, 1, 500, 1, 1, 1}};
  const auto result =
      collect(fake, {.warmups = 2, .min_samples = 6, .max_samples = 6}, FakeClock{});
  EXPECT_EQ(result.kept, (std::vector<double>{1, 1, 500, 1, 1, 1}));
}

TEST(IsPrecise, NeedsAtLeastSixSamples) {
  EXPECT_FALSE(is_precise({{1, 1, 1, 1, 1}}, 0.5));
  EXPECT_TRUE(is_precise({{1, 1, 1, 1, 1, 1}}, 0.5));
}

}  // namespace
}  // namespace strata
