#include "harness/measure/counts.hpp"

#include "fakes.hpp"
#include "harness/measure/experiment.hpp"
#include "message_of.hpp"

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

TEST(CompareWork, ComparesActiveWarpsWithTheDeclaredOnesWhereverTheyAreDeclared) {
  const auto counted_with = [](std::optional<double> active, double declared) {
    auto quantities = known();
    quantities.push_back(quantity("active_warps", "warps.ratio", "warp", /*additive=*/false));
    FakeSource source{quantities};
    Counts work{{"requests", 104}};
    if (active) work["active_warps"] = *active;
    return do_with(&source, work, {{"requests", 4}, {"active_warps", 1}},
                   CountPlan{.warps_per_sm = declared})
        .record;
  };
  const CaseRecord declared = counted_with(31, 32);
  const auto* counted = find(declared, "active_warps", Provenance::counted);
  ASSERT_NE(counted, nullptr);
  EXPECT_THAT(counted->samples, ElementsAre(31)) << "an average: the empty launch has its own";
  EXPECT_THAT(find(declared, "active_warps", Provenance::modelled)->samples, ElementsAre(32));
  ASSERT_EQ(declared.gates.size(), 1U);
  EXPECT_EQ(declared.gates.front().name, "occupancy");
  EXPECT_EQ(declared.gates.front().verdict, Verdict::passed);
  EXPECT_EQ(counted_with(16, 32).gates.front().verdict, Verdict::failed);
  EXPECT_EQ(counted_with(std::nullopt, 32).gates.front().verdict, Verdict::unverified);
  EXPECT_TRUE(counted_with(31, 0).gates.empty());
}

// --- loads ---

constexpr double all_sectors = 4e5;
constexpr LoadPrediction plain{.requests = 100'000, .sectors = 400'000};
// Seven reads of the same sectors: six of seven find them in L1.
constexpr LoadPrediction seven{
    .requests = 700'000, .sectors = 2'800'000, .repeated_sectors = 2'400'000};
constexpr LoadPrediction seven_of_two_at_once{.requests = 700'000,
                                              .sectors = 2'800'000,
                                              .repeated_sectors = 2'400'000,
                                              .fetched_sectors = 800'000};
constexpr LoadPrediction two_at_once{
    .requests = 100'000, .sectors = 400'000, .fetched_sectors = 800'000};

/// Of `sectors` requested from L1: hits; requests to L2 and their hits; and bytes from memory, in
/// sectors, all as shares.
LoadCounts counts(double l1, double l2, double l2_hits, std::optional<double> memory,
                  double sectors = all_sectors) {
  LoadCounts all{.requests = sectors / 4,
                 .sectors = sectors,
                 .l1_hit_sectors = l1 * sectors,
                 .l2_sectors = l2 * sectors,
                 .l2_miss_sectors = (l2 - l2_hits) * sectors,
                 .far_miss_sectors = {},
                 .dram_bytes = {}};
  if (memory) all.dram_bytes = *memory * sectors * sector_bytes;
  return all;
}
/// Of single sectors, two fetched at once: hits in the near half of L2, sectors from memory, and
/// those from behind the far half, as shares, as an H200 counts them.
LoadCounts of_halves(double near, double memory, double behind_far) {
  LoadCounts all = counts(0, 1, 2 * near - 1, 2 * memory);
  all.far_miss_sectors = 2 * behind_far * all_sectors;
  return all;
}

TEST(ModelGate, PassesOnlyForEqualWholeNumbers) {
  EXPECT_EQ(model_gate(plain, counts(0, 1, 1, 0)).verdict, Verdict::passed);
  auto one_more = counts(0, 1, 1, 0);
  one_more.sectors += 1;
  EXPECT_EQ(model_gate(plain, one_more).verdict, Verdict::failed);
  auto one_less = counts(0, 1, 1, 0);
  one_less.requests -= 1;
  const auto gate = model_gate(plain, one_less);
  EXPECT_EQ(gate.verdict, Verdict::failed);
  auto fewer = counts(0, 1, 1, 0);
  fewer.sectors -= 1;
  EXPECT_EQ(model_gate(plain, fewer).verdict, Verdict::failed);
  EXPECT_EQ(gate.name, "model");
  EXPECT_EQ(gate.detail, "99999 requests and 400000 sectors counted, 100000 and 400000 predicted");
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

INSTANTIATE_TEST_SUITE_P(
    Claims, LevelGate,
    ::testing::Values(
        LevelCase{"all from L1", ServedBy::l1, plain, counts(1, 0, 0, 0), Verdict::passed},
        LevelCase{"a few cold misses", ServedBy::l1, plain, counts(.9925, .0075, 0, .0075),
                  Verdict::passed},
        LevelCase{"L1 too small", ServedBy::l1, plain, counts(.75, .25, .25, 0), Verdict::failed},
        LevelCase{"all from L2", ServedBy::l2, plain, counts(0, 1, 1, 0), Verdict::passed},
        LevelCase{"requests of several SMs answered as one", ServedBy::l2, plain,
                  counts(0, .975, .975, 0), Verdict::failed},
        LevelCase{"one in a hundred of them", ServedBy::l2, plain, counts(0, .991, .991, 0),
                  Verdict::passed},
        LevelCase{"more than L1 missed", ServedBy::l2, plain, counts(0, 1.025, 1.025, 0),
                  Verdict::failed},
        LevelCase{"requests of several SMs that memory served once", ServedBy::dram, plain,
                  counts(0, .75, 0, .75), Verdict::failed},
        LevelCase{"L2 left warm in L1", ServedBy::l2, plain, counts(.5, .5, .5, 0),
                  Verdict::failed},
        LevelCase{"L2 that missed", ServedBy::l2, plain, counts(0, 1, .75, .25), Verdict::failed},
        LevelCase{"the far half of L2", ServedBy::l2, two_at_once, of_halves(.5, 0, 0),
                  Verdict::failed},
        LevelCase{"L2 hits that memory still fed", ServedBy::l2, plain, counts(0, 1, 1, .1),
                  Verdict::failed},
        LevelCase{"others that read memory beside a short walk", ServedBy::l2, plain,
                  counts(0, 1, 1, 3.2, 400), Verdict::passed},
        LevelCase{"more than others ever read", ServedBy::l2, plain, counts(0, 1, 1, 5.2, 400),
                  Verdict::failed},
        LevelCase{"others that read memory beside the launch without work", ServedBy::l2, plain,
                  counts(0, 1, 1, -3.2, 400), Verdict::passed},
        LevelCase{"DRAM left in L2 of such a chip", ServedBy::dram, plain, counts(0, 1, .25, {}),
                  Verdict::failed},
        LevelCase{"a chip without DRAM counters", ServedBy::l2, plain, counts(0, 1, 1, {}),
                  Verdict::passed},
        LevelCase{"all from memory", ServedBy::dram, plain, counts(0, 1, 0, 1), Verdict::passed},
        LevelCase{"from memory of both halves", ServedBy::dram, two_at_once, of_halves(0, 1, .5),
                  Verdict::passed},
        LevelCase{"half of it from the far half of L2", ServedBy::dram, two_at_once,
                  of_halves(0, .5, 0), Verdict::failed},
        LevelCase{"memory brings neighbours along", ServedBy::dram, two_at_once,
                  counts(0, 1, -1, 2), Verdict::passed},
        LevelCase{"memory gives more than L2 fetches", ServedBy::dram, plain, counts(0, 1, 0, 1.06),
                  Verdict::failed},
        LevelCase{"DRAM left in L2", ServedBy::dram, plain, counts(0, 1, .25, .75),
                  Verdict::failed},
        LevelCase{"DRAM misses that memory did not serve", ServedBy::dram, plain,
                  counts(0, 1, 0, .5), Verdict::failed},
        LevelCase{"a few of them beside a short walk", ServedBy::dram, plain,
                  counts(0, 1, 0, .98, 400), Verdict::failed},
        LevelCase{"others that read memory beside a short walk in memory", ServedBy::dram, plain,
                  counts(0, 1, 0, 4.2, 400), Verdict::passed},
        LevelCase{"a pattern that hits L1 by itself", ServedBy::l2, seven,
                  counts(6. / 7, 1. / 7, 1. / 7, 0), Verdict::passed},
        LevelCase{"hits beyond those of the pattern", ServedBy::l2, seven, counts(.92, .08, .08, 0),
                  Verdict::failed},
        LevelCase{"fewer than the pattern promises", ServedBy::l2, seven, counts(.77, .23, .23, 0),
                  Verdict::failed},
        LevelCase{"the same from memory", ServedBy::dram, seven, counts(6. / 7, 1. / 7, 0, 1. / 7),
                  Verdict::passed},
        LevelCase{"the same with the neighbours that memory brings along", ServedBy::dram,
                  seven_of_two_at_once, counts(6. / 7, 1. / 7, -1. / 7, 2. / 7, 2.8e6),
                  Verdict::passed}),
    [](const auto& test) {
      std::string name = test.param.what;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

TEST(LevelGate, WantsEachSectorThatDiffersFromMemory) {
  constexpr LoadPrediction shared{.requests = 100, .sectors = 400, .distinct_sectors = 200};
  const auto verdict = [&](double given) {
    return level_gate(ServedBy::dram, shared, counts(0, 1, 0, given / 2, 400)).verdict;
  };
  EXPECT_EQ(verdict(1), Verdict::passed);
  EXPECT_EQ(verdict(0.8), Verdict::failed);
}

TEST(LevelGate, FailsWhereNothingWasCounted) {
  EXPECT_EQ(level_gate(ServedBy::l1, plain, {}).verdict, Verdict::failed);
}

struct FoundCase {
  const char* what;
  LoadCounts net;
  Verdict verdict;
  const char* detail;
  LoadPrediction predicted = two_at_once;
  bool past_l1 = true;
};
class LevelFound : public ::testing::TestWithParam<FoundCase> {};

TEST_P(LevelFound, PassesOneLevelAndLeavesAMixtureOpen) {
  const auto& c = GetParam();
  const Gate gate = level_found(c.predicted, c.net, c.past_l1);
  EXPECT_EQ(gate.verdict, c.verdict) << gate.detail;
  EXPECT_THAT(gate.detail, HasSubstr(c.detail));
}

INSTANTIATE_TEST_SUITE_P(
    Levels, LevelFound,
    ::testing::Values(
        FoundCase{"L1", counts(1, 0, 0, {}), Verdict::passed, "L1 served 100.00 %", plain, false},
        FoundCase{"half L1", counts(.5, .5, .5, {}), Verdict::unverified, "several levels", plain,
                  false},
        FoundCase{"L1 of loads that pass it by", counts(.0025, .9975, .9975, {}), Verdict::failed,
                  "bypass L1", plain},
        FoundCase{"nothing", {}, Verdict::failed, "no loads"},
        FoundCase{"L2", counts(0, 1, 1, {}), Verdict::passed, "; L2 hit 100.00 % of it", plain},
        FoundCase{"memory", counts(0, 1, -1, 2), Verdict::passed, "memory delivered 100.00 %"},
        FoundCase{"memory beside others", counts(0, 1, -1, 2.2), Verdict::passed,
                  "memory delivered 110.00 %"},
        FoundCase{"near L2", of_halves(1, 0, 0), Verdict::passed, "L2 hit 100.00 %"},
        FoundCase{"near and far L2", of_halves(.5, 0, 0), Verdict::unverified, "several levels"},
        FoundCase{"far L2 and near memory", of_halves(0, .5, 0), Verdict::unverified,
                  "the far half of L2 held part of it"},
        FoundCase{"the same beside others that read memory", of_halves(0, 1, .1),
                  Verdict::unverified, "memory behind the far half of L2 served 10.00 %"},
        FoundCase{"memory of both", of_halves(0, 1, .49), Verdict::passed,
                  "memory behind the far half of L2 served 49.00 %"},
        FoundCase{"mostly near L2", of_halves(.7, 0, 0), Verdict::unverified, "several levels"},
        FoundCase{"far hits of a chip that does not count them", counts(0, 1, -1, 1),
                  Verdict::unverified, "the far half of L2 held part of it"},
        FoundCase{"more misses than fetches", counts(0, 1, -1, 2), Verdict::unverified,
                  "more than it fetches at once", plain},
        FoundCase{"requests answered as one", counts(0, .9, .9, 0), Verdict::failed,
                  "90.00 % of the rest reached L2", plain}),
    [](const auto& test) {
      std::string name = test.param.what;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

TEST(ServedByName, KnowsTheLevelsThatCanBeCounted) {
  EXPECT_EQ(served_by("l1"), ServedBy::l1);
  EXPECT_EQ(served_by("l2"), ServedBy::l2);
  EXPECT_EQ(served_by("dram"), ServedBy::dram);
  EXPECT_EQ(served_by("l3"), std::nullopt);
}

TEST(LoadCounts, AreLessTheOverheadInEveryPart) {
  const auto some = [](double n, std::optional<double> dram) {
    return LoadCounts{.requests = n,
                      .sectors = 2 * n,
                      .l1_hit_sectors = 3 * n,
                      .l2_sectors = 4 * n,
                      .l2_miss_sectors = 5 * n,
                      .far_miss_sectors = 6 * n,
                      .dram_bytes = dram};
  };
  const LoadCounts net = some(100, 2560) - some(1, 64);
  EXPECT_EQ(net.requests, 99);
  EXPECT_EQ(net.sectors, 2 * 99);
  EXPECT_EQ(net.l1_hit_sectors, 3 * 99);
  EXPECT_EQ(net.l2_sectors, 4 * 99);
  EXPECT_EQ(net.l2_miss_sectors, 5 * 99);
  EXPECT_EQ(net.far_miss_sectors, 6 * 99);
  EXPECT_EQ(net.dram_bytes, 2496);
  EXPECT_EQ((some(100, 2560) - some(1, std::nullopt)).dram_bytes, std::nullopt);
}

TEST(LoadCounts, NameAQuantityThatTheyCannotDoWithout) {
  Counts partly{{"l1_load_requests", 1}, {"l1_load_sectors", 4}, {"l1_load_hit_sectors", 0}};
  EXPECT_THAT(message_of<std::runtime_error>([&] { return load_counts(partly); }),
              HasSubstr("l2_load_sectors"));
}

}  // namespace
}  // namespace strata
