#include "harness/measure/counts.hpp"

#include "fakes.hpp"
#include "harness/case/error.hpp"
#include "harness/measure/experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

// --- count and judge_counts -------------------------------------------------------------

struct Done {
  CaseRecord record;
  Counted counted;
  std::string calls;
};

Done do_with(FakeSource* source, const Counts& work, const Counts& overhead,
             const std::optional<CountPlan>& plan = std::nullopt) {
  Done done;
  FakeDevice device;
  Cache cache;
  const Plan any{};
  const Counting counting{.source = source};
  Session session{any, device, cache, done.record, counting};
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
  done.counted = count(session, piece).value();
  if (plan) judge_counts(session, *plan, done.counted);
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
  const std::vector<Expectation> expected{Expectation{.quantity = "wavefronts", .predicted = 800}};
  const auto done =
      do_with(&source, {{"wavefronts", 810}}, {{"wavefronts", 10}},
              CountPlan{.expected = expected, .model = "bank_model", .unit = "load", .units = 200});
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
  const std::vector<Expectation> expected{Expectation{.quantity = "wavefronts", .predicted = 800}};
  const auto done =
      do_with(&source, {{"wavefronts", 811}}, {{"wavefronts", 10}},
              CountPlan{.expected = expected, .model = "bank_model", .unit = "load", .units = 100});
  EXPECT_EQ(done.record.gates.front().verdict, Verdict::failed);
  EXPECT_THAT(find(done.record, "wavefronts_per_load", Provenance::counted)->samples,
              ElementsAre(8.01));
  EXPECT_THAT(find(done.record, "wavefronts_per_load", Provenance::modelled)->samples,
              ElementsAre(8));
}

TEST(CompareWork, HasNoRowsOfWhatTheChipDoesNotCount) {
  FakeSource source{known()};
  const std::vector<Expectation> expected{Expectation{.quantity = "never_counted", .predicted = 1},
                                          Expectation{.quantity = "not_planned", .predicted = 1}};
  const auto done = do_with(
      &source, {{"requests", 104}, {"not_planned", 2}}, {{"requests", 4}, {"not_planned", 1}},
      CountPlan{.expected = expected, .model = "bank_model", .unit = "load", .units = 1});
  EXPECT_EQ(done.record.measurements.size(), 1U);
  EXPECT_EQ(done.record.gates.front().verdict, Verdict::unverified);
}

// --- loads ---

constexpr LoadPrediction plain{.requests = 100, .sectors = 400, .repeated_sectors = 0};
// Seven reads of the same 28 sectors: six of seven find them in L1.
constexpr LoadPrediction seven{.requests = 700, .sectors = 19600, .repeated_sectors = 16800};

LoadCounts counts(double hits, double l2, double l2_hits, std::optional<double> dram) {
  return {.requests = 100,
          .sectors = 400,
          .l1_hit_sectors = hits,
          .l2_sectors = l2,
          .l2_miss_sectors = l2 - l2_hits,
          .dram_bytes = dram};
}

TEST(ModelGate, PassesOnlyForEqualWholeNumbers) {
  EXPECT_EQ(model_gate(plain, counts(0, 400, 400, 0)).verdict, Verdict::passed);
  auto one_more = counts(0, 400, 400, 0);
  one_more.sectors += 1;
  EXPECT_EQ(model_gate(plain, one_more).verdict, Verdict::failed);
  auto one_less = counts(0, 400, 400, 0);
  one_less.requests -= 1;
  const auto gate = model_gate(plain, one_less);
  EXPECT_EQ(gate.verdict, Verdict::failed);
  auto fewer = counts(0, 400, 400, 0);
  fewer.sectors -= 1;
  EXPECT_EQ(model_gate(plain, fewer).verdict, Verdict::failed);
  EXPECT_EQ(gate.name, "model");
  EXPECT_EQ(gate.detail, "99 requests and 400 sectors counted, 100 and 400 predicted");
}

struct LevelCase {
  const char* what;
  ServedBy claimed;
  LoadPrediction predicted;
  LoadCounts net;
  Verdict verdict;
};

class LevelGate : public ::testing::TestWithParam<LevelCase> {};

TEST_P(LevelGate, Decides) {
  const auto& c = GetParam();
  const auto gate = level_gate(c.claimed, c.predicted, c.net);
  EXPECT_EQ(gate.name, "level");
  EXPECT_EQ(gate.verdict, c.verdict) << gate.detail;
}

LoadCounts of_seven(double hits, double l2_hit_share, double dram_share) {
  const double rest = 19600 - hits;
  return {.requests = 700,
          .sectors = 19600,
          .l1_hit_sectors = hits,
          .l2_sectors = rest,
          .l2_miss_sectors = rest * (1 - l2_hit_share),
          .dram_bytes = rest * 32 * dram_share};
}

INSTANTIATE_TEST_SUITE_P(
    Claims, LevelGate,
    ::testing::Values(
        LevelCase{"all from L1", ServedBy::l1, plain, counts(400, 0, 0, 0), Verdict::passed},
        LevelCase{"a few cold misses", ServedBy::l1, plain, counts(397, 3, 0, 96), Verdict::passed},
        LevelCase{"L1 too small", ServedBy::l1, plain, counts(300, 100, 100, 0), Verdict::failed},
        LevelCase{"all from L2", ServedBy::l2, plain, counts(0, 400, 400, 0), Verdict::passed},
        LevelCase{"requests of several SMs answered as one", ServedBy::l2, plain,
                  counts(0, 390, 390, 0), Verdict::failed},
        LevelCase{"one in a hundred of them", ServedBy::l2, plain, counts(0, 396, 396, 0),
                  Verdict::passed},
        LevelCase{"more than L1 missed", ServedBy::l2, plain, counts(0, 410, 410, 0),
                  Verdict::failed},
        LevelCase{"requests of several SMs that memory served once", ServedBy::dram, plain,
                  counts(0, 300, 0, 9600), Verdict::failed},
        LevelCase{"L2 left warm in L1", ServedBy::l2, plain, counts(200, 200, 200, 0),
                  Verdict::failed},
        LevelCase{"L2 that missed", ServedBy::l2, plain, counts(0, 400, 300, 3200),
                  Verdict::failed},
        LevelCase{"L2 hits that memory still fed", ServedBy::l2, plain,
                  counts(0, 4e6, 4e6, 0.1 * 32 * 4e6), Verdict::failed},
        LevelCase{"others who read memory beside a short walk", ServedBy::l2, plain,
                  counts(0, 400, 400, 41 * 1024), Verdict::passed},
        LevelCase{"more than others ever read", ServedBy::l2, plain, counts(0, 400, 400, 65 * 1024),
                  Verdict::failed},
        LevelCase{"a chip without DRAM counters", ServedBy::l2, plain,
                  counts(0, 400, 400, std::nullopt), Verdict::passed},
        LevelCase{"all from memory", ServedBy::dram, plain, counts(0, 400, 0, 12800),
                  Verdict::passed},
        LevelCase{"memory brings neighbours along", ServedBy::dram, plain, counts(0, 400, 0, 25600),
                  Verdict::passed},
        LevelCase{"DRAM left in L2", ServedBy::dram, plain, counts(0, 400, 100, 9600),
                  Verdict::failed},
        LevelCase{"DRAM misses that memory did not serve", ServedBy::dram, plain,
                  counts(0, 400, 0, 6400), Verdict::failed},
        LevelCase{"a pattern that hits L1 by itself", ServedBy::l2, seven, of_seven(16800, 1, 0),
                  Verdict::passed},
        LevelCase{"hits beyond those of the pattern", ServedBy::l2, seven, of_seven(18000, 1, 0),
                  Verdict::failed},
        LevelCase{"fewer than the pattern promises", ServedBy::l2, seven, of_seven(15000, 1, 0),
                  Verdict::failed},
        LevelCase{"the same from memory", ServedBy::dram, seven, of_seven(16800, 0, 1),
                  Verdict::passed}),
    [](const auto& test) {
      std::string name = test.param.what;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

TEST(LevelGate, FailsWhereNothingWasCounted) {
  EXPECT_EQ(level_gate(ServedBy::l1, plain, {}).verdict, Verdict::failed);
}

TEST(ServedByName, KnowsTheLevelsThatCanBeCounted) {
  EXPECT_EQ(served_by("l1"), ServedBy::l1);
  EXPECT_EQ(served_by("l2"), ServedBy::l2);
  EXPECT_EQ(served_by("dram"), ServedBy::dram);
  EXPECT_EQ(served_by("l3"), std::nullopt);
}

TEST(LoadCounts, AreLessTheOverheadInEveryPart) {
  const LoadCounts whole{100, 400, 300, 90, 80, 2560};
  const LoadCounts net = whole - LoadCounts{1, 2, 3, 4, 5, 64};
  EXPECT_EQ(net.requests, 99);
  EXPECT_EQ(net.sectors, 398);
  EXPECT_EQ(net.l1_hit_sectors, 297);
  EXPECT_EQ(net.l2_sectors, 86);
  EXPECT_EQ(net.l2_miss_sectors, 75);
  EXPECT_EQ(net.dram_bytes, 2496);
  EXPECT_EQ((whole - LoadCounts{}).dram_bytes, std::nullopt);
}

TEST(LoadCounts, NameAQuantityThatTheyCannotDoWithout) {
  Counts partly{{"l1_load_requests", 1}, {"l1_load_sectors", 4}, {"l1_load_hit_sectors", 0}};
  try {
    (void)load_counts(partly);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("l2_load_sectors"));
  }
}

}  // namespace
}  // namespace strata
