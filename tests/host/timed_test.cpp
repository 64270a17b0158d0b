#include "harness/measure/timed.hpp"

#include "tests/host/fakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata {
namespace {

using ::testing::ElementsAre;

struct Seen {
  double cycles = 0;
  double hertz = 0;
};

class TimedTest : public ::testing::Test {
 protected:
  const Gate& gate(const std::string& name) {
    for (const Gate& one : record_.gates) {
      if (one.name == name) return one;
    }
    throw std::out_of_range{name};
  }

  Plan plan_;
  FakeDevice device_;
  Cache cache_;
  CaseRecord record_;
  Counting counting_;
  Session session_{plan_, device_, cache_, record_, counting_};
  Collection<Seen> seen_{.kept = {{10, 1e9}, {11, 1e9}, {12, 1e9}}, .stop = Stop::time_cap};
};

TEST_F(TimedTest, AddsASampleOfEachObservationByMemberOrFunction) {
  const Timed timed{session_, seen_};
  timed.add("load_cycles", "cycle", "clock64_slope", &Seen::cycles);
  timed.add("load_time", "s", "clock64_slope", [](const Seen& s) { return s.cycles / s.hertz; });
  ASSERT_EQ(record_.measurements.size(), 2U);
  EXPECT_EQ(record_.measurements[0].quantity, "load_cycles");
  EXPECT_EQ(record_.measurements[0].provenance, Provenance::timed);
  EXPECT_THAT(record_.measurements[0].samples, ElementsAre(10, 11, 12));
  EXPECT_THAT(record_.measurements[1].samples, ElementsAre(1e-8, 1.1e-8, 1.2e-8));
}

TEST_F(TimedTest, SaysWhySamplingEnded) {
  const Timed timed{session_, seen_};
  EXPECT_EQ(std::get<std::string>(record_.facts.at("stopped_by")), "time cap");
}

TEST_F(TimedTest, TwoTimersMustAgree) {
  const Timed timed{session_, seen_};
  timed.timers(
      &Seen::cycles, "inside", [](const Seen& s) { return 1.01 * s.cycles; }, "outside");
  EXPECT_EQ(gate("timer").verdict, Verdict::passed);
  record_.gates.clear();
  timed.timers(
      &Seen::cycles, "inside", [](const Seen& s) { return 1.1 * s.cycles; }, "outside");
  EXPECT_EQ(gate("timer").verdict, Verdict::failed);
}

TEST_F(TimedTest, TheClockIsAQuantityAndAGate) {
  const Timed timed{session_, seen_};
  timed.core_clock("counter", &Seen::hertz);
  EXPECT_EQ(record_.measurements.at(0).unit, "Hz");
  EXPECT_EQ(gate("clock").verdict, Verdict::passed);
  record_.gates.clear();
  seen_.kept[1].hertz = 0.9e9;
  timed.core_clock("counter", &Seen::hertz);
  EXPECT_EQ(gate("clock").verdict, Verdict::failed);
}

}  // namespace
}  // namespace strata
