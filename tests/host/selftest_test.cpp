#include "harness/run/selftest.hpp"

#include "example_gpu.hpp"
#include "harness/case/controls.hpp"
#include "micro/controls/controls.cu"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace strata {
namespace {

using testing::HasSubstr;

CaseRecord record_of(Params params, std::vector<double> samples, std::vector<Gate> gates = {}) {
  return {.which = {"micro", "thing", Backend::host, std::move(params)},
          .status = Status::measured,
          .facts = {{"lanes", std::int64_t{8}}},
          .gates = std::move(gates),
          .measurements = {{.quantity = "cycles",
                            .unit = "cycle",
                            .provenance = Provenance::timed,
                            .method = "clock",
                            .samples = std::move(samples)}}};
}

CaseRecord unmeasured(Status status, const std::string& reason) {
  CaseRecord record = record_of({}, {1});
  record.status = status;
  record.reason = reason;
  return record;
}

Shown shown_by(const Judge& judge, std::vector<CaseRecord> records) {
  return judge(records);
}

const RowName row{"cycles", "clock"};

Judge from_3_to_5() {
  return value_is(row, [](const Params&) { return Interval{3, 5}; });
}

TEST(SelftestValue, HoldsWhereEveryMedianIsWithinWhatIsExpectedOfItsParameters) {
  const Judge judge = value_is(row, [](const Params& params) {
    const double wanted = std::stod(params.at("stride"));
    return Interval{wanted, wanted};
  });
  const Shown right =
      shown_by(judge, {record_of({{"stride", "2"}}, {1, 2, 9}), record_of({{"stride", "4"}}, {4})});
  EXPECT_EQ(right.proof, Proof::held);
  EXPECT_EQ(right.seen, "2, 4");
  EXPECT_EQ(
      shown_by(judge, {record_of({{"stride", "2"}}, {2}), record_of({{"stride", "4"}}, {5})}).proof,
      Proof::failed);
}

TEST(SelftestValue, IsRefutedOnlyByAnIntervalBeyondWhatIsExpected) {
  const CaseRecord beyond = record_of({}, {5.1, 5.2, 5.3, 5.2, 5.2, 5.3, 5.1, 5.2});
  const CaseRecord across = record_of({}, {4.9, 5.2, 5.3, 4.8, 5.2, 5.3, 4.9, 5.2});
  EXPECT_EQ(shown_by(from_3_to_5(), {across}).proof, Proof::unproved);
  EXPECT_EQ(shown_by(from_3_to_5(), {across, record_of({}, {4})}).proof, Proof::unproved);
  for (const auto& records : {std::vector{beyond, across}, std::vector{across, beyond}})
    EXPECT_EQ(shown_by(from_3_to_5(), records).proof, Proof::failed);
}

TEST(SelftestValue, IsRefutedByAValidNumberAloneAndByAGateThatSpeaksAgainstTheCase) {
  EXPECT_EQ(shown_by(from_3_to_5(), {record_of({}, {2})}).proof, Proof::failed);
  for (const char* const gate : {"result", "model", "level", "code", "placement"}) {
    const Shown shown =
        shown_by(from_3_to_5(), {record_of({}, {4}, {{gate, Verdict::failed, "why"}})});
    EXPECT_EQ(shown.proof, Proof::failed) << gate;
    EXPECT_THAT(shown.seen, HasSubstr("why"));
  }
}

TEST(SelftestValue, ProvesNothingByANumberThatTheConditionsMadeInvalid) {
  for (const char* const gate : {"timer", "clock", "queue", "limit", "preempted"}) {
    EXPECT_EQ(
        shown_by(from_3_to_5(), {record_of({}, {900}, {{gate, Verdict::failed, "why"}})}).proof,
        Proof::unproved)
        << gate;
  }
  CaseRecord noisy = record_of({}, {900});
  noisy.measurements[0].noise = {"noise", Verdict::failed, "half-width 9 %"};
  EXPECT_EQ(shown_by(from_3_to_5(), {noisy}).proof, Proof::unproved);
}

TEST(SelftestValue, SaysWhyARowIsMissing) {
  const Judge counted = value_is({"sectors", "cupti_net"}, [](const Params&) {
    return Interval{1, 1};
  });
  const Shown shown =
      shown_by(counted, {record_of({}, {4}, {{"level", Verdict::unverified, "no permission"}})});
  EXPECT_EQ(shown.proof, Proof::unproved);
  EXPECT_EQ(shown.seen, "level: no permission");
  EXPECT_EQ(shown_by(counted, {unmeasured(Status::skipped, "no such unit")}).proof,
            Proof::unproved);
  EXPECT_EQ(shown_by(counted, {unmeasured(Status::failed, "it crashed")}).proof, Proof::failed);
}

TEST(SelftestRatio, DividesTheRowOfOneCaseByThatOfAnotherWhateverTheirOrder) {
  const CaseRecord over = record_of({}, {320});
  CaseRecord under = record_of({}, {10});
  under.measurements[0].quantity = "clock";
  const Judge judge = ratio_is(row, {"clock", "clock"}, "lanes", 2, {1.9, 2.1});
  for (const auto& records : {std::vector{over, under}, std::vector{under, over}}) {
    const Shown shown = shown_by(judge, records);
    EXPECT_EQ(shown.proof, Proof::held);
    EXPECT_EQ(shown.seen, "2");
  }
  EXPECT_EQ(shown_by(ratio_is(row, {"clock", "clock"}, "lanes", 2, {2.1, 3}), {over, under}).proof,
            Proof::failed);
}

TEST(SelftestRatio, IsRefutedOnlyByIntervalsBeyondWhatIsExpected) {
  const CaseRecord over = record_of({}, {310, 312, 318, 320, 320, 322, 328, 330});
  CaseRecord under = record_of({}, {9.9, 9.9, 9.9, 10, 10, 10.1, 10.1, 10.1});
  under.measurements[0].quantity = "clock";
  const auto proof_from = [&](double low) {
    return shown_by(ratio_is(row, {"clock", "clock"}, "lanes", 2, {low, 3}), {over, under}).proof;
  };
  EXPECT_EQ(proof_from(1.99), Proof::held);
  EXPECT_EQ(proof_from(2.07), Proof::unproved);  // 330 ÷ (8 × 2 × 9.9) is 2.083
  EXPECT_EQ(proof_from(2.09), Proof::failed);
}

TEST(SelftestGates, HoldOnlyWhereAllOfThemPassed) {
  const Judge judge = gates_pass({"model", "level"});
  const Gate model{"model", Verdict::passed, "as predicted"};
  const auto with = [&](Verdict verdict) {
    return shown_by(judge, {record_of({}, {1}, {model, {"level", verdict, "L2"}})}).proof;
  };
  EXPECT_EQ(with(Verdict::passed), Proof::held);
  EXPECT_EQ(with(Verdict::failed), Proof::failed);
  EXPECT_EQ(with(Verdict::unverified), Proof::unproved);
  EXPECT_EQ(shown_by(judge, {record_of({}, {1}, {model})}).proof, Proof::unproved);
  EXPECT_EQ(
      shown_by(gates_pass({"clock"}), {record_of({}, {1}, {{"clock", Verdict::failed, ""}})}).proof,
      Proof::unproved);
}

/// A control by the verdicts of its gate without the mistake and with it.
Shown control_of(Verdict without, Verdict with, const std::string& gate = "level",
                 const std::string& absent = {}) {
  return shown_by(caught_by(gate, absent),
                  {record_of({{"mistake", "warm"}}, {1}, {{gate, with, "with"}}),
                   record_of({{"mistake", "none"}}, {1}, {{gate, without, "without"}})});
}

TEST(SelftestControl, IsCaughtWhereItsGateFailsForTheMistakeAlone) {
  EXPECT_EQ(control_of(Verdict::passed, Verdict::failed).proof, Proof::held);
  EXPECT_EQ(control_of(Verdict::passed, Verdict::passed).proof, Proof::failed);
  EXPECT_EQ(control_of(Verdict::failed, Verdict::failed).proof, Proof::failed);
  EXPECT_EQ(control_of(Verdict::failed, Verdict::failed, "timer").proof, Proof::unproved);
}

TEST(SelftestControl, ProvesNothingWithoutCountersOrWithoutWhatTheMistakeIsMadeWith) {
  EXPECT_EQ(control_of(Verdict::unverified, Verdict::unverified).proof, Proof::unproved);
  EXPECT_EQ(control_of(Verdict::passed, Verdict::unverified).proof, Proof::unproved);
  const Shown absent = control_of(Verdict::passed, Verdict::passed, "level", "nothing is merged");
  EXPECT_EQ(absent.proof, Proof::unproved);
  EXPECT_THAT(absent.seen, HasSubstr("nothing is merged"));
  EXPECT_EQ(shown_by(caught_by("level"), {record_of({{"mistake", "none"}}, {1})}).proof,
            Proof::unproved);
}

TEST(SelftestControl, IsNotCaughtByAnotherGate) {
  const Shown shown = shown_by(
      caught_by("level"),
      {record_of({{"mistake", "none"}}, {1}, {{"level", Verdict::passed, ""}}),
       record_of({{"mistake", "warm"}}, {1},
                 {{"level", Verdict::passed, "all well"}, {"timer", Verdict::failed, ""}})});
  EXPECT_EQ(shown.proof, Proof::failed);
  EXPECT_THAT(shown.seen, HasSubstr("all well"));
}

/// `count` repetitions around `first` and, from the middle on, `second`.
std::vector<CaseRecord> repeated(int count, double first, double second) {
  std::vector<CaseRecord> records;
  for (int i = 1; i <= count; ++i) {
    const double middle = i <= count / 2 ? first : second;
    std::vector<double> samples;
    for (int k = -3; k <= 3; ++k)
      samples.push_back(middle + 0.1 * k);
    records.push_back(record_of({{"repeat", std::to_string(i)}}, samples));
  }
  return records;
}

TEST(SelftestSameTwice, AlarmsWhereIntervalsLieApartByAPercentOrMore) {
  const Judge judge = rarely_alarms(row);
  EXPECT_EQ(shown_by(judge, repeated(32, 100, 100)).proof, Proof::held);
  EXPECT_EQ(shown_by(judge, repeated(32, 100, 102)).proof, Proof::failed);
  // Apart, but by less than a comparison calls a change.
  EXPECT_EQ(shown_by(judge, repeated(32, 100, 100.9)).proof, Proof::held);
}

TEST(SelftestSameTwice, AllowsAsManyAlarmsAsChanceDoes) {
  EXPECT_EQ(most_alarms(0), 0U);
  EXPECT_EQ(most_alarms(1), 1U);
  // Binomial, p = 1 - 0.95²: more than 6 of 16 come once in 2,400 times, more than 5 in 370.
  EXPECT_EQ(most_alarms(16), 6U);
  auto records = repeated(32, 100, 100);
  const auto apart = repeated(32, 100, 102);
  for (std::size_t i = 16; i < 22; ++i)
    records[i] = apart[i];
  EXPECT_EQ(shown_by(rarely_alarms(row), records).proof, Proof::held);
  records[22] = apart[22];
  const Shown shown = shown_by(rarely_alarms(row), records);
  EXPECT_EQ(shown.proof, Proof::failed);
  EXPECT_EQ(shown.seen, "7 of 16 pairs (6 allowed)");
}

TEST(SelftestSameTwice, ProvesNothingWhereMostPairsAreInvalid) {
  auto records = repeated(32, 100, 100);
  for (std::size_t i = 0; i < 5; ++i)
    records[i].gates = {{"clock", Verdict::failed, "it moved"}};
  const Shown shown = shown_by(rarely_alarms(row), records);
  EXPECT_EQ(shown.proof, Proof::unproved);
  EXPECT_THAT(shown.seen, HasSubstr("it moved"));
}

TEST(SelftestClaims, AskForCasesThatThereAre) {
  for (const Backend backend : {Backend::cuda, Backend::host}) {
    for (const Claim& claim : claims_of(backend)) {
      EXPECT_FALSE(claim.cases.empty()) << claim.what;
      for (const SweepEntry& entry : claim.cases) {
        const Enrolled* const known = find_benchmark(entry.benchmark, benchmarks_and_controls());
        ASSERT_NE(known, nullptr) << entry.benchmark;
        // Every axis is named, so that a new default changes no claim.
        EXPECT_EQ(entry.axes.size(), known->benchmark.axes.size()) << claim.what;
        for (const auto& [name, values] : entry.axes) {
          const Axis* const axis = known->benchmark.axis(name);
          ASSERT_NE(axis, nullptr) << entry.benchmark << ' ' << name;
          for (const std::string& value : values)
            EXPECT_EQ(axis->canonical(value), value) << entry.benchmark << ' ' << name;
        }
      }
    }
  }
}

TEST(SelftestClaims, HaveAControlForEachMistakeThatADeviceCanMake) {
  const auto& control = find_benchmark("control", benchmarks_and_controls())->benchmark;
  for (const Backend backend : {Backend::cuda, Backend::host}) {
    std::set<std::string> tried;
    for (const Claim& claim : claims_of(backend)) {
      if (claim.kind != Claim::Kind::control) continue;
      std::size_t cases = 0;
      const auto& axes = claim.cases.at(0).axes;
      for (const std::string& mistake : axes.at(1).second) {
        const Params params{
            {"subject", axes.at(0).second.at(0)}, {"mistake", mistake}, {"repeat", "1"}};
        if (!control.excludes(params, backend)) ++cases;
        tried.insert(mistake);
      }
      EXPECT_EQ(cases, 2U) << claim.what;
    }
    std::set<std::string> possible;
    for (const std::string& subject : control.axis("subject")->choices) {
      for (const std::string& mistake : control.axis("mistake")->choices) {
        if (!control.excludes({{"subject", subject}, {"mistake", mistake}}, backend)) {
          possible.insert(mistake);
        }
      }
    }
    EXPECT_EQ(tried, possible);
  }
}

TEST(SelftestClaims, AreJudgedByTheRecordsOfTheirOwnCases) {
  const std::vector<Claim> claims{
      {.what = "three",
       .cases = {{"layout_traffic",
                  {{"generation", {"7.x"}}, {"layout", {"aos"}}, {"fields", {"all"}}}}},
       .judge = from_3_to_5()}};
  const auto cases = expand(sweep_of(claims), Backend::host, benchmarks_and_controls());
  ASSERT_EQ(cases.size(), 1U);
  CaseRecord record = record_of({}, {4});
  record.which = cases[0];
  record.seconds = 2;
  const std::vector<CaseRecord> records{record_of({}, {900}), record};
  const auto outcomes = judge(claims, Backend::host, records, benchmarks_and_controls());
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].shown.proof, Proof::held);
  EXPECT_EQ(outcomes[0].seconds, 2);
  EXPECT_EQ(judge(claims, Backend::host, {}, benchmarks_and_controls())[0].shown.proof,
            Proof::unproved);
}

TEST(SelftestControls, AreNotRegisteredAsBenchmarks) {
  EXPECT_EQ(find_benchmark("control"), nullptr);
  const Enrolled* const known = find_benchmark("control", benchmarks_and_controls());
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->benchmark.suite, controls_suite);
}

TEST(SelftestControls, ASkippedWalkEndsElsewhere) {
  const controls::Chain chain;
  const Experiment experiment =
      controls::describe_chain(chain, controls::Subject::chain, controls::Mistake::none);
  for (const Length& length :
       {experiment.slopes[0].lengths.brief, experiment.slopes[0].lengths.full}) {
    EXPECT_EQ(length.rounds % controls::unroll, 0U);
    EXPECT_NE(chain.slot_after(5, length.rounds), 5U);
  }
}

TEST(SelftestControls, AChainOfFarHitsFitsL2ButNotAHalfOfIt) {
  using controls::Mistake;
  using controls::Subject;
  for (const std::uint64_t mebibytes : {40U, 50U, 60U, 126U}) {
    const std::uint64_t l2_bytes = mebibytes << 20U;
    const auto far = controls::chain_for(Subject::l2_chain, Mistake::far_l2_as_near, l2_bytes);
    const std::uint64_t bytes = std::uint64_t{far.slots} * far.stride;
    EXPECT_LT(bytes, l2_bytes * 3 / 4) << mebibytes;
    EXPECT_GT(bytes, l2_bytes * 3 / 5) << mebibytes;
    EXPECT_NE(far.slots % far.step, 0U) << mebibytes;
    EXPECT_EQ(far.slots % controls::unroll, 0U) << mebibytes;
  }
}

TEST(SelftestControls, AnArrayTakesAQuarterOfL2AndOnePieceWhereRequestsMerge) {
  using controls::Mistake;
  using controls::Subject;
  const GpuFacts gpu = example_gpu();
  const auto reads_for = [&](Subject subject, Mistake mistake) {
    return controls::reads_for(subject, mistake, gpu);
  };
  const auto all = reads_for(Subject::l2_reads, Mistake::none);
  EXPECT_LE(all.bytes(), gpu.l2_bytes / 4);
  EXPECT_GT(all.bytes(), gpu.l2_bytes / 5);
  EXPECT_EQ(reads_for(Subject::l2_reads, Mistake::merged_requests).bytes() * gpu.sms, all.bytes());
  const auto from_memory = reads_for(Subject::dram_reads, Mistake::none);
  EXPECT_GT(from_memory.bytes(), 3 * gpu.l2_bytes);
  EXPECT_LE(from_memory.kept, gpu.l2_bytes / 4);
}

}  // namespace
}  // namespace strata
