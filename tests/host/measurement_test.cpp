#include "harness/record/measurement.hpp"

#include "example_records.hpp"
#include "harness/measure/session.hpp"
#include "message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace {

using strata::CaseRecord;
using strata::Gate;
using strata::Measurement;
using strata::Phase;
using strata::Provenance;
using strata::Status;
using strata::Verdict;

TEST(Words, OfProvenanceComeBack) {
  for (const auto value : {Provenance::timed, Provenance::counted, Provenance::modelled,
                           Provenance::published, Provenance::reported}) {
    EXPECT_EQ(strata::enum_from<strata::Provenance>(strata::to_string(value)), value);
  }
  EXPECT_EQ(strata::to_string(Provenance::modelled), "modelled");
  EXPECT_EQ(strata::enum_from<strata::Provenance>("modeled"), std::nullopt);
  EXPECT_EQ(strata::enum_from<strata::Provenance>(""), std::nullopt);
}

TEST(Words, OfVerdictsComeBack) {
  for (const auto value :
       {Verdict::passed, Verdict::failed, Verdict::unverified, Verdict::not_applicable}) {
    EXPECT_EQ(strata::enum_from<strata::Verdict>(strata::to_string(value)), value);
  }
  EXPECT_EQ(strata::to_string(Verdict::not_applicable), "not_applicable");
  EXPECT_EQ(strata::enum_from<strata::Verdict>("pass"), std::nullopt);
}

TEST(Words, OfStatusesComeBack) {
  for (const auto value : {Status::measured, Status::skipped, Status::failed}) {
    EXPECT_EQ(strata::enum_from<strata::Status>(strata::to_string(value)), value);
  }
  EXPECT_EQ(strata::enum_from<strata::Status>("Failed"), std::nullopt);
}

Measurement with_noise(Verdict verdict, std::string detail) {
  Measurement m;
  m.noise = {"noise", verdict, std::move(detail)};
  return m;
}

CaseRecord with_gates(std::vector<Gate> gates) {
  CaseRecord record;
  record.status = Status::measured;
  record.gates = std::move(gates);
  return record;
}

TEST(Validity, HoldsWhenNothingFailed) {
  const auto record = with_gates({{"result", Verdict::passed, "512 of 512"},
                                  {"level", Verdict::unverified, "no counters"},
                                  {"code", Verdict::not_applicable, ""}});
  EXPECT_TRUE(record.is_valid(with_noise(Verdict::passed, "0.4 %")));
  EXPECT_TRUE(record.is_valid(with_noise(Verdict::not_applicable, "")));
  EXPECT_TRUE(record.is_valid(with_noise(Verdict::unverified, "")));
}

TEST(Validity, EndsWithAnyFailedGateOfTheCase) {
  const auto record = with_gates({{"result", Verdict::passed, ""},
                                  {"clock", Verdict::failed, "5 %"},
                                  {"code", Verdict::passed, ""}});
  EXPECT_FALSE(record.is_valid(with_noise(Verdict::passed, "")));
}

TEST(Validity, EndsWithTheNoiseOfThisMeasurementOnly) {
  const auto record = with_gates({{"result", Verdict::passed, ""}});
  EXPECT_FALSE(record.is_valid(with_noise(Verdict::failed, "8 %")));
  EXPECT_TRUE(record.is_valid(with_noise(Verdict::passed, "0.1 %")));
}

TEST(Reasons, NameFailedAndUnverifiedGatesInOrder) {
  const auto record = with_gates({{"result", Verdict::passed, "512 of 512"},
                                  {"clock", Verdict::failed, "held within 5 %"},
                                  {"level", Verdict::unverified, "no counters"},
                                  {"code", Verdict::not_applicable, "on the host"}});
  EXPECT_EQ(record.reasons(with_noise(Verdict::failed, "8 %")),
            "clock: held within 5 %; level: no counters; noise: 8 %");
}

TEST(Reasons, AreEmptyWhenEverythingPassed) {
  const auto record = with_gates({{"result", Verdict::passed, "512 of 512"}});
  EXPECT_EQ(record.reasons(with_noise(Verdict::passed, "0.1 %")), "");
}

TEST(Reasons, GiveTheVerdictOfAGateWithoutFigures) {
  const auto record = with_gates({{"timer", Verdict::failed, ""}});
  EXPECT_EQ(record.reasons(with_noise(Verdict::unverified, "")),
            "timer: failed; noise: unverified");
}

// --- timed and counted ---

CaseRecord timed(std::vector<Gate> gates) {
  CaseRecord record = with_gates(std::move(gates));
  record.started = "2026-11-21T01:02:03Z";
  record.seconds = 0.5;
  record.facts = {{"registers", std::int64_t{40}}, {"slots", std::int64_t{1}}};
  record.measurements.push_back(
      {"cycles", "cycle", Provenance::timed, "slope", {61}, {"noise", Verdict::passed, ""}});
  return record;
}

CaseRecord counted(std::vector<Gate> gates) {
  CaseRecord record = with_gates(std::move(gates));
  record.phase = Phase::counting;
  record.started = "2026-11-21T02:00:00Z";
  record.seconds = 7;
  record.facts = {{"slots", std::int64_t{2}}, {"passes", std::int64_t{3}}};
  record.measurements.push_back(strata::counted_row(4096));
  return record;
}

/// The one gate of a case whose gate had one verdict when timed and another when counted.
Gate merged_gate(Verdict when_timed, Verdict when_counted) {
  const auto gates =
      merged(timed({{"level", when_timed, "timed"}}), counted({{"level", when_counted, "counted"}}))
          .gates;
  EXPECT_EQ(gates.size(), 1U);
  return gates.at(0);
}

TEST(Merged, AddsWhatWasCountedToWhatWasTimed) {
  const auto record = merged(timed({}), counted({}));
  ASSERT_EQ(record.measurements.size(), 2U);
  EXPECT_EQ(record.measurements[0].quantity, "cycles");
  EXPECT_EQ(record.measurements[1].quantity, "sectors");
  EXPECT_EQ(record.phase, Phase::timing);
}

TEST(Merged, KeepsTheTimeOfTheTiming) {
  const auto record = merged(timed({}), counted({}));
  EXPECT_EQ(record.started, "2026-11-21T01:02:03Z");
  EXPECT_EQ(record.seconds, 0.5);
}

TEST(Merged, KeepsTheTimedFactWhereBothHaveOne) {
  EXPECT_EQ(merged(timed({}), counted({})).facts, (strata::Facts{{"registers", std::int64_t{40}},
                                                                 {"slots", std::int64_t{1}},
                                                                 {"passes", std::int64_t{3}}}));
}

TEST(Merged, LetsCountersDecideWhatTimingCouldNot) {
  for (const auto open : {Verdict::unverified, Verdict::not_applicable}) {
    for (const auto verdict :
         {Verdict::passed, Verdict::failed, Verdict::unverified, Verdict::not_applicable}) {
      const Gate gate = merged_gate(open, verdict);
      EXPECT_EQ(gate.verdict, verdict);
      EXPECT_EQ(gate.detail, "counted");
    }
  }
}

TEST(Merged, KeepsAGateFailedThatFailedInEitherPhase) {
  for (const auto verdict : {Verdict::passed, Verdict::unverified, Verdict::not_applicable}) {
    EXPECT_EQ(merged_gate(Verdict::failed, verdict).verdict, Verdict::failed);
    EXPECT_EQ(merged_gate(Verdict::failed, verdict).detail, "timed");
    EXPECT_EQ(merged_gate(verdict, Verdict::failed).verdict, Verdict::failed);
    EXPECT_EQ(merged_gate(verdict, Verdict::failed).detail, "counted");
  }
}

TEST(Merged, SaysBothReasonsOfAGateThatFailedTwice) {
  EXPECT_EQ(merged_gate(Verdict::failed, Verdict::failed).detail, "timed; counted");
}

TEST(Merged, LeavesAGateThatPassedWhenTimed) {
  for (const auto verdict : {Verdict::passed, Verdict::unverified, Verdict::not_applicable}) {
    EXPECT_EQ(merged_gate(Verdict::passed, verdict).verdict, Verdict::passed);
    EXPECT_EQ(merged_gate(Verdict::passed, verdict).detail, "timed");
  }
}

TEST(Merged, AppendsGatesThatOnlyCountingHas) {
  const auto record = merged(timed({{"result", Verdict::passed, "timed"}}),
                             counted({{"model", Verdict::failed, "4096 of 4224"}}));
  ASSERT_EQ(record.gates.size(), 2U);
  EXPECT_EQ(record.gates[1].name, "model");
  EXPECT_FALSE(record.is_valid(record.measurements[0])) << "its timings are no better";
}

CaseRecord not_counted(Status status, const std::string& reason) {
  CaseRecord record;
  record.phase = Phase::counting;
  record.status = status;
  record.reason = reason;
  record.facts = {{"passes", std::int64_t{3}}};
  record.gates = {{"model", Verdict::failed, "half a check"}};
  return record;
}

TEST(Merged, KeepsTheTimingsAndSaysWhyTheLevelIsNotKnown) {
  const auto whole = timed({{"timer", Verdict::unverified, "one timer"},
                            {"level", Verdict::unverified, "level unverified: not counted yet"}});
  const auto failed = merged(whole, not_counted(Status::failed, "worker killed by signal 11"));
  ASSERT_EQ(failed.gates.size(), 2U);
  EXPECT_EQ(failed.gates[0].detail, "one timer");
  EXPECT_EQ(failed.gates[1].verdict, Verdict::unverified);
  EXPECT_EQ(failed.gates[1].detail,
            "level unverified: counting failed: worker killed by signal 11");
  EXPECT_EQ(failed.measurements.size(), 1U);
  EXPECT_EQ(failed.facts, whole.facts);
  EXPECT_TRUE(failed.is_valid(failed.measurements[0]));
  EXPECT_EQ(merged(whole, not_counted(Status::skipped, "no loads to count")).gates[1].detail,
            "level unverified: counting skipped: no loads to count");
}

TEST(Merged, LeavesALevelThatWasDecidedWhenCountingFailed) {
  const auto decided = timed({{"level", Verdict::not_applicable, "one level only"}});
  const auto record = merged(decided, not_counted(Status::failed, "crash"));
  ASSERT_EQ(record.gates.size(), 1U);
  EXPECT_EQ(record.gates[0].detail, "one level only");
}

CaseRecord visit(int number, std::vector<double> samples, std::vector<Gate> gates,
                 Verdict noise = Verdict::passed) {
  CaseRecord record = with_gates(std::move(gates));
  record.visit = number;
  record.seconds = 2;
  record.measurements = {{"cycles", "cycle", Provenance::timed, "clock", std::move(samples), {}},
                         {"limit", "cycle", Provenance::modelled, "driver", {9}, {}}};
  record.measurements[0].noise = {"noise", noise, "as wide"};
  return record;
}

TEST(Revisited, AddsTheTimedSamplesAndKeepsWhatFailedOnce) {
  const auto first = visit(1, {1, 2},
                           {{"timer", Verdict::passed, "a"},
                            {"timer", Verdict::passed, "b"},
                            {"clock", Verdict::failed, "c"}});
  const auto again = visit(2, {5, 6, 7},
                           {{"timer", Verdict::passed, "d"},
                            {"timer", Verdict::failed, "e"},
                            {"clock", Verdict::passed, "f"},
                            {"code", Verdict::failed, "g"}},
                           Verdict::failed);
  const auto record = strata::revisited(first, again);
  EXPECT_EQ(record.measurements[0].samples, (std::vector<double>{1, 2, 5, 6, 7}));
  EXPECT_EQ(record.measurements[0].visits, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(record.measurements[0].noise.verdict, Verdict::failed);
  EXPECT_EQ(record.measurements[0].noise.detail, "visit 2: as wide");
  EXPECT_EQ(record.measurements[1].samples, std::vector<double>{9}) << "no visit changes a model";
  ASSERT_EQ(record.gates.size(), 4U);
  EXPECT_EQ(record.gates[0].detail, "a");
  EXPECT_EQ(record.gates[1].verdict, Verdict::failed);
  EXPECT_EQ(record.gates[1].detail, "visit 2: e");
  EXPECT_EQ(record.gates[2].detail, "c");
  EXPECT_EQ(record.gates[3].detail, "g");
  EXPECT_EQ(record.seconds, 4);
  EXPECT_EQ(strata::revisited(record, visit(3, {8}, {})).measurements[0].visits.size(), 3U);
  const auto third = strata::revisited(
      record, visit(3, {8}, {{"timer", Verdict::passed, "h"}, {"timer", Verdict::failed, "i"}},
                    Verdict::failed));
  EXPECT_EQ(third.gates[1].detail, "visit 2: e") << "the first reason stays";
  EXPECT_EQ(third.measurements[0].noise.detail, "visit 2: as wide");
}

TEST(Revisited, LeavesACaseWhoseLaterVisitWasNotMeasured) {
  const auto first = visit(1, {1, 2}, {});
  CaseRecord crashed;
  crashed.visit = 2;
  EXPECT_TRUE(strata::revisited(first, crashed).measurements[0].visits.empty());
  EXPECT_EQ(strata::revisited(crashed, first).status, Status::failed);
}

TEST(WithTrace, AddsItsRowsAndGatesAndFacts) {
  CaseRecord trace = counted({});
  trace.phase = Phase::tracing;
  trace.gates = {{"phases", Verdict::passed, "1.001"}};
  trace.facts["copies"] = std::int64_t{3};
  const CaseRecord record = with_trace(timed({}), trace);
  ASSERT_EQ(record.measurements.size(), timed({}).measurements.size() + 1);
  EXPECT_EQ(record.measurements.back().quantity, trace.measurements[0].quantity);
  EXPECT_TRUE(record.is_valid(record.measurements.back()));
  EXPECT_EQ(record.gates.back().name, "phases");
  EXPECT_TRUE(record.facts.contains("copies"));
}

TEST(WithTrace, JudgesItsOwnRowsAlone) {
  CaseRecord trace = counted({});
  trace.phase = Phase::tracing;
  trace.gates = {{"phases", Verdict::failed, "1.2 of it"}, {"model", Verdict::failed, "two"}};
  const CaseRecord record = with_trace(timed({}), trace);
  EXPECT_EQ(record.gates.size(), timed({}).gates.size());
  EXPECT_TRUE(record.is_valid(record.measurements.front()));
  EXPECT_FALSE(record.is_valid(record.measurements.back()));
  EXPECT_THAT(record.reasons(record.measurements.back()),
              testing::HasSubstr("noise: phases: 1.2 of it; model: two"));
}

TEST(WithTrace, SaysWhyACaseWasNotTracedAndAddsNothingToOneThatWasNotTimed) {
  CaseRecord trace{.phase = Phase::tracing, .status = Status::skipped, .reason = "no CUPTI"};
  const CaseRecord record = with_trace(timed({}), trace);
  EXPECT_EQ(record.measurements.size(), timed({}).measurements.size());
  EXPECT_TRUE(record.is_valid(record.measurements.front()));
  EXPECT_EQ(record.reasons(record.measurements.front()), "phases: tracing skipped: no CUPTI");
  CaseRecord failed = timed({});
  failed.status = Status::failed;
  failed.measurements.clear();
  EXPECT_TRUE(with_trace(failed, counted({})).measurements.empty());
}

TEST(Merged, LeavesACaseThatWasNotTimedAsItIs) {
  CaseRecord skipped;
  skipped.status = Status::skipped;
  skipped.reason = "no such level";
  const auto record = merged(skipped, counted({{"level", Verdict::passed, "100 %"}}));
  EXPECT_EQ(record.status, Status::skipped);
  EXPECT_TRUE(record.measurements.empty());
  EXPECT_TRUE(record.gates.empty());
  EXPECT_TRUE(record.facts.empty());
}

class NoDevice : public strata::Device {
 public:
  [[nodiscard]] strata::Backend backend() const override { return strata::Backend::host; }
  [[nodiscard]] const strata::DeviceIdentity& identity() const override { return identity_; }
  [[nodiscard]] strata::Facts conditions() override { return {}; }
  [[nodiscard]] strata::Facts timer_facts() override { return {}; }
  void settle() override {}
  void begin_case(const std::string& /*id*/) override {}
  void end_case() override {}
  [[nodiscard]] std::string poisoned() override { return {}; }

 private:
  strata::DeviceIdentity identity_;
};

class SessionTest : public testing::Test {
 protected:
  static CaseRecord record_of(strata::Params params) {
    CaseRecord record;
    record.which = {"micro", "layout_read", strata::Backend::host, std::move(params)};
    return record;
  }

  strata::Plan plan_;
  NoDevice device_;
  strata::Cache cache_;
  CaseRecord record_ = record_of({{"layout", "aos"},
                                  {"warps_per_sm", "8"},
                                  {"offset", "-3"},
                                  {"bytes", "4294967296"},
                                  {"odd", "08"}});
  strata::Counting counting_;
  strata::Session session_{plan_, device_, cache_, record_, counting_};
};

TEST_F(SessionTest, GivesTheParametersOfItsCase) {
  EXPECT_EQ(session_.param("layout"), "aos");
  EXPECT_EQ(session_.integer("warps_per_sm"), 8);
  EXPECT_EQ(session_.integer("offset"), -3);
}

TEST_F(SessionTest, IsTimedUnlessToldToCountAndSaysWhy) {
  EXPECT_EQ(session_.counters(), nullptr);
  EXPECT_EQ(session_.counting_note(), "counters were not requested");
}

TEST_F(SessionTest, NamesAnAxisThatTheBenchmarkDidNotDeclare) {
  EXPECT_EQ(strata::message_of<std::out_of_range>([&] { return session_.param("width"); }),
            "layout_read declares no axis 'width'");
  EXPECT_THROW((void)session_.integer("width"), std::out_of_range);
}

TEST_F(SessionTest, RefusesToReadWordsAndLargeNumbersAsInt) {
  EXPECT_THROW((void)session_.integer("layout"), std::out_of_range);
  EXPECT_THROW((void)session_.integer("bytes"), std::out_of_range);
  EXPECT_THROW((void)session_.integer("odd"), std::out_of_range);
}

TEST_F(SessionTest, PutsWhatItIsGivenIntoTheRecord) {
  session_.add(with_noise(Verdict::passed, ""));
  session_.add(Gate{"result", Verdict::passed, "1 of 1"});
  session_.fact("slots", std::int64_t{2048});
  session_.fact("slots", std::int64_t{4096});
  EXPECT_EQ(record_.measurements.size(), 1U);
  EXPECT_EQ(record_.gates.size(), 1U);
  EXPECT_EQ(record_.facts.at("slots"), strata::Fact{std::int64_t{4096}});
}

TEST(Cache, KeepsOneObjectUntilAnotherKeyComes) {
  strata::Cache cache;
  int made = 0;
  const auto make = [&made] { return ++made; };
  EXPECT_EQ(cache.keep<int>("a", make), 1);
  EXPECT_EQ(cache.keep<int>("a", make), 1);
  EXPECT_EQ(cache.keep<int>("b", make), 2);
  EXPECT_EQ(cache.keep<int>("a", make), 3);
}

TEST(Cache, SharesOneObjectOfATypeAcrossKeys) {
  strata::Cache cache;
  cache.shared<std::string>() = "kept";
  (void)cache.keep<int>("a", [] { return 1; });
  (void)cache.keep<int>("b", [] { return 2; });
  EXPECT_EQ(cache.shared<std::string>(), "kept");
  EXPECT_EQ(cache.shared<int>(), 0) << "an object of its own for each type";
}

TEST(Cache, FreesTheOldObjectBeforeItMakesTheNew) {
  strata::Cache cache;
  std::weak_ptr<int> first;
  {
    auto& held = cache.keep<std::shared_ptr<int>>("a", [] { return std::make_shared<int>(1); });
    first = held;
  }
  ASSERT_FALSE(first.expired());
  (void)cache.keep<std::shared_ptr<int>>("b", [&first] {
    EXPECT_TRUE(first.expired()) << "two data sets at once do not fit";
    return std::make_shared<int>(2);
  });
}

TEST(Cache, HoldsNothingAfterAFailureToMake) {
  strata::Cache cache;
  (void)cache.keep<int>("a", [] { return 1; });
  EXPECT_THROW((void)cache.keep<int>("b", []() -> int { throw std::runtime_error{"no memory"}; }),
               std::runtime_error);
  EXPECT_EQ(cache.keep<int>("a", [] { return 7; }), 7);
  EXPECT_EQ(cache.keep<int>("b", [] { return 8; }), 8);
}

TEST(Cache, DoesNotTakeAnObjectOfAnotherTypeForItsOwn) {
  strata::Cache cache;
  (void)cache.keep<int>("a", [] { return 1; });
  EXPECT_EQ(cache.keep<std::string>("a", [] { return std::string{"text"}; }), "text");
}

}  // namespace
