#include "harness/measure/counted_work.hpp"

#include "fakes.hpp"
#include "harness/case/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CountedQuantity quantity(const char* name, const char* metric, const char* unit,
                         bool additive = true) {
  return {.name = name,
          .metric = metric,
          .unit = unit,
          .meaning = "",
          .set = "shared",
          .additive = additive};
}

std::vector<CountedQuantity> known() {
  return {quantity("requests", "inst.sum", "request"),
          quantity("wavefronts", "wave.sum", "wavefront"),
          quantity("hit_rate", "rate.pct", "%", /*additive=*/false),
          quantity("never_counted", "x.sum", "1")};
}

// --- Counted ---------------------------------------------------------------------------------

TEST(CountedNet, IsTheWholeLessTheOverhead) {
  const Counted counted{.whole = {{"requests", 104}, {"wavefronts", 30}},
                        .overhead = {{"requests", 4}, {"wavefronts", 40}}};
  EXPECT_EQ(counted.net("requests"), 100);
  EXPECT_EQ(counted.net("wavefronts"), -10);
}

TEST(CountedNet, IsNothingForWhatWasNotCountedTwice) {
  const Counted counted{.whole = {{"requests", 104}}, .overhead = {{"wavefronts", 4}}};
  EXPECT_EQ(counted.net("requests"), std::nullopt);
  EXPECT_EQ(counted.net("wavefronts"), std::nullopt);
  EXPECT_EQ(counted.net("others"), std::nullopt);
}

TEST(CountedNet, IsNothingForWhatIsNoNumber) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  constexpr double endless = std::numeric_limits<double>::infinity();
  const Counted counted{.whole = {{"requests", none}, {"wavefronts", 1}},
                        .overhead = {{"requests", 1}, {"wavefronts", endless}}};
  EXPECT_EQ(counted.net("requests"), std::nullopt);
  EXPECT_EQ(counted.net("wavefronts"), std::nullopt);
}

// --- model_gate ------------------------------------------------------------------------------

Gate gate_of(const std::vector<Expectation>& expected, const Counts& whole) {
  Counts overhead;
  for (const auto& [name, value] : whole)
    overhead[name] = 0;
  return model_gate(expected, {.whole = whole, .overhead = overhead});
}

TEST(WorkModelGate, PassesWhenEveryCountIsAsPredicted) {
  const auto gate = gate_of(
      {{.quantity = "requests", .predicted = 100}, {.quantity = "wavefronts", .predicted = 400}},
      {{"requests", 100}, {"wavefronts", 400}});
  EXPECT_EQ(gate.name, "model");
  EXPECT_EQ(gate.verdict, Verdict::passed);
  EXPECT_EQ(gate.detail,
            "requests: 100 counted, 100 predicted, wavefronts: 400 counted, 400 predicted");
}

TEST(WorkModelGate, FailsForOneTooManyOrTooFewWithoutABound) {
  for (const double counted : {99.0, 101.0}) {
    EXPECT_EQ(
        gate_of({{.quantity = "requests", .predicted = 100}}, {{"requests", counted}}).verdict,
        Verdict::failed);
  }
}

TEST(WorkModelGate, AllowsWhatTheBoundAllowsAndNamesIt) {
  const auto gate = [](double counted) {
    return gate_of({{.quantity = "bytes", .predicted = 1000, .bound = 0.01}}, {{"bytes", counted}});
  };
  EXPECT_EQ(gate(1010).verdict, Verdict::passed);
  EXPECT_EQ(gate(990).verdict, Verdict::passed);
  EXPECT_EQ(gate(1011).verdict, Verdict::failed);
  EXPECT_EQ(gate(989).verdict, Verdict::failed);
  EXPECT_THAT(gate(1010).detail, HasSubstr("(bound 1 %)"));
}

TEST(WorkModelGate, WantsNothingWhereNothingIsPredicted) {
  const std::vector<Expectation> none{{.quantity = "spills", .predicted = 0, .bound = 0.5}};
  EXPECT_EQ(gate_of(none, {{"spills", 0}}).verdict, Verdict::passed);
  EXPECT_EQ(gate_of(none, {{"spills", 1}}).verdict, Verdict::failed);
}

TEST(WorkModelGate, IsUnverifiedWithoutACount) {
  const auto gate = gate_of(
      {{.quantity = "requests", .predicted = 100}, {.quantity = "wavefronts", .predicted = 400}},
      {{"requests", 100}});
  EXPECT_EQ(gate.verdict, Verdict::unverified);
  EXPECT_THAT(gate.detail, HasSubstr("wavefronts was not counted"));
}

TEST(WorkModelGate, FailsWhateverElseWasNotCounted) {
  const Expectation missing{.quantity = "wavefronts", .predicted = 400};
  const Expectation wrong{.quantity = "requests", .predicted = 100};
  EXPECT_EQ(gate_of({missing, wrong}, {{"requests", 101}}).verdict, Verdict::failed);
  EXPECT_EQ(gate_of({wrong, missing}, {{"requests", 101}}).verdict, Verdict::failed);
}

// --- count and count_and_compare -------------------------------------------------------------

struct Done {
  CaseRecord record;
  Counted counted;
  std::string calls;
};

Done do_with(FakeSource* source, const Counts& work, const Counts& overhead,
             const std::optional<Modelled>& model = std::nullopt) {
  Done done;
  FakeDevice device;
  Cache cache;
  const Plan plan{};
  const Counting counting{.source = source};
  Session session{plan, device, cache, done.record, counting};
  const CountedWork piece{.prepare = [&] { done.calls += "p"; },
                          .work =
                              [&] {
                                done.calls += "w";
                                source->now = work;
                              },
                          .overhead =
                              [&] {
                                done.calls += "o";
                                source->now = overhead;
                              }};
  done.counted =
      (model ? count_and_compare(session, piece, *model) : count(session, piece)).value();
  return done;
}

const Measurement* find(const CaseRecord& record, const std::string& name, Provenance provenance) {
  const auto found = std::ranges::find_if(record.measurements, [&](const Measurement& m) {
    return m.quantity == name && m.provenance == provenance;
  });
  return found == record.measurements.end() ? nullptr : &*found;
}

TEST(CountWork, PreparesBeforeEveryPassAndLaunchesTheWorkLast) {
  FakeSource source{known()};
  const auto done = do_with(&source, {{"requests", 104}}, {{"requests", 4}});
  EXPECT_EQ(done.calls, "popopwpw");
  EXPECT_THAT(source.names, ElementsAre("overhead", "work"));
  EXPECT_EQ(done.counted.net("requests"), 100);
}

TEST(CountWork, KeepsTheWholeCountsAsTheyCame) {
  FakeSource source{known()};
  const auto done = do_with(&source, {{"requests", 104}, {"hit_rate", 50}, {"unplanned", 1}},
                            {{"requests", 4}, {"hit_rate", 20}});
  ASSERT_EQ(done.record.measurements.size(), 2U);
  const auto* requests = find(done.record, "requests", Provenance::counted);
  ASSERT_NE(requests, nullptr);
  EXPECT_EQ(requests->unit, "request");
  EXPECT_EQ(requests->method, "inst.sum");
  EXPECT_THAT(requests->samples, ElementsAre(104));
  EXPECT_NE(find(done.record, "hit_rate", Provenance::counted), nullptr);
  EXPECT_TRUE(done.record.gates.empty());
}

TEST(CountWork, TakesNoRatioOffARatio) {
  FakeSource source{known()};
  const auto done =
      do_with(&source, {{"requests", 104}, {"hit_rate", 50}}, {{"requests", 4}, {"hit_rate", 20}});
  EXPECT_EQ(done.counted.net("hit_rate"), std::nullopt);
}

TEST(CountWork, LeavesOutWhatIsNoNumber) {
  FakeSource source{known()};
  const auto done =
      do_with(&source, {{"requests", std::numeric_limits<double>::quiet_NaN()}, {"wavefronts", 1}},
              {{"requests", 4}});
  EXPECT_EQ(find(done.record, "requests", Provenance::counted), nullptr);
  EXPECT_NE(find(done.record, "wavefronts", Provenance::counted), nullptr);
}

TEST(CountWork, SkipsWhereAProfilerOutsideCounts) {
  FakeSource source{known()};
  EXPECT_THROW((void)do_with(&source, {}, {}), Skipped);
}

TEST(CountWork, RefusesASessionThatTimes) {
  EXPECT_THROW((void)do_with(nullptr, {}, {}), std::logic_error);
}

TEST(CountWork, RefusesASourceThatLosesRanges) {
  FakeSource source{known()};
  source.lose_one = true;
  EXPECT_THROW((void)do_with(&source, {{"requests", 104}}, {{"requests", 4}}), std::runtime_error);
}

TEST(CompareWork, PutsTheModelBesideTheCountOfOneUnit) {
  FakeSource source{known()};
  const std::array<Expectation, 1> expected{
      Expectation{.quantity = "wavefronts", .predicted = 800}};
  const auto done =
      do_with(&source, {{"wavefronts", 810}}, {{"wavefronts", 10}},
              Modelled{.expected = expected, .method = "bank_model", .unit = "load", .units = 200});
  const auto* counted = find(done.record, "wavefronts_per_load", Provenance::counted);
  ASSERT_NE(counted, nullptr);
  EXPECT_EQ(counted->method, "cupti_net");
  EXPECT_EQ(counted->unit, "wavefront");
  EXPECT_THAT(counted->samples, ElementsAre(4));
  const auto* modelled = find(done.record, "wavefronts_per_load", Provenance::modelled);
  ASSERT_NE(modelled, nullptr);
  EXPECT_EQ(modelled->method, "bank_model");
  EXPECT_THAT(modelled->samples, ElementsAre(4));
  ASSERT_EQ(done.record.gates.size(), 1U);
  EXPECT_EQ(done.record.gates.front().verdict, Verdict::passed);
  EXPECT_EQ(done.counted.net("wavefronts"), 800);
}

TEST(CompareWork, FailsTheGateAndShowsBothWhenTheHardwareSaysOtherwise) {
  FakeSource source{known()};
  const std::array<Expectation, 1> expected{
      Expectation{.quantity = "wavefronts", .predicted = 800}};
  const auto done =
      do_with(&source, {{"wavefronts", 811}}, {{"wavefronts", 10}},
              Modelled{.expected = expected, .method = "bank_model", .unit = "load", .units = 100});
  EXPECT_EQ(done.record.gates.front().verdict, Verdict::failed);
  EXPECT_THAT(find(done.record, "wavefronts_per_load", Provenance::counted)->samples,
              ElementsAre(8.01));
  EXPECT_THAT(find(done.record, "wavefronts_per_load", Provenance::modelled)->samples,
              ElementsAre(8));
}

TEST(CompareWork, HasNoRowsOfWhatTheChipDoesNotCount) {
  FakeSource source{known()};
  const std::array<Expectation, 2> expected{
      Expectation{.quantity = "never_counted", .predicted = 1},
      Expectation{.quantity = "not_planned", .predicted = 1}};
  const auto done = do_with(
      &source, {{"requests", 104}, {"not_planned", 2}}, {{"requests", 4}, {"not_planned", 1}},
      Modelled{.expected = expected, .method = "bank_model", .unit = "load", .units = 1});
  EXPECT_EQ(done.record.measurements.size(), 1U);
  EXPECT_EQ(done.record.gates.front().verdict, Verdict::unverified);
}

}  // namespace
}  // namespace strata
