#include "harness/counters/counter_set.hpp"

#include "harness/case/builtin_files.hpp"
#include "harness/counters/counters.hpp"
#include "message_of.hpp"
#include "temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using strata::CounterPlan;
using strata::CounterSet;
using strata::MetricCatalogue;
using strata::UsageError;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Names = std::vector<std::string>;

// A chip that has what it is given, and counts four metrics in a pass.
class FakeChip final : public MetricCatalogue {
 public:
  explicit FakeChip(Names has) : base_metrics_{std::move(has)} {}

  [[nodiscard]] const std::string& chip() const override { return chip_; }
  [[nodiscard]] std::optional<strata::MetricFacts> find(const std::string& metric) override {
    if (std::find(base_metrics_.begin(), base_metrics_.end(), metric) == base_metrics_.end())
      return std::nullopt;
    return strata::MetricFacts{.unit = "sector", .meaning = "of the fake chip"};
  }
  [[nodiscard]] bool known_elsewhere(const std::string& metric) override {
    return elsewhere.contains(metric);
  }
  [[nodiscard]] Names nearest(const std::string& /*metric*/) override { return near; }
  [[nodiscard]] std::optional<std::size_t> passes(std::span<const std::string> metrics) override {
    EXPECT_EQ(std::set<std::string>(metrics.begin(), metrics.end()).size(), metrics.size())
        << "a metric twice";
    for (const auto& metric : metrics) {
      // One bad name refuses the whole list, as with the real library.
      if (!find(metric) || unschedulable.contains(metric)) return std::nullopt;
    }
    if (metrics.size() > most) return std::nullopt;
    return (metrics.size() + 3) / 4;
  }
  [[nodiscard]] const Names& base_metrics() override { return base_metrics_; }
  [[nodiscard]] strata::MetricFacts describe(const std::string& base_metric) override {
    return find(base_metric).value();
  }

  std::set<std::string> elsewhere;
  std::set<std::string> unschedulable;
  std::size_t most = 1000;
  Names near;

 private:
  std::string chip_ = "FK100";
  Names base_metrics_;
};

// Metrics of the set "memory" on a chip that has the first choice of everything.
Names memory_metrics() {
  Names names;
  for (const auto& quantity : strata::load_counter_set("memory", "test").quantities)
    names.push_back(quantity.metrics.front().name);
  return names;
}

FakeChip chip_with(const Names& more) {
  auto names = memory_metrics();
  names.insert(names.end(), more.begin(), more.end());
  return FakeChip{names};
}

const std::string head = "schema: 1\ntitle: mine\nquantities:\n";

std::string quantity(std::string_view name, std::string_view metrics) {
  return "  - name: " + std::string{name} +
         "\n    unit: B\n    meaning: what it is\n    metrics: [" + std::string{metrics} + "]\n";
}

std::string refusal(const std::string& text) {
  return strata::message_of([&] { (void)strata::parse_counter_set(text, "mine.yaml"); });
}

const strata::CountedQuantity* find(const CounterPlan& plan, std::string_view name) {
  const auto found = std::find_if(plan.quantities.begin(), plan.quantities.end(),
                                  [&](const auto& one) { return one.name == name; });
  return found == plan.quantities.end() ? nullptr : &*found;
}

class CounterSetFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const auto path = folder_.path() / "mine.yaml";
    std::ofstream{path} << text;
    return path.string();
  }

 private:
  strata::TemporaryFolder folder_;
};

// ------------------------------------------------------------------------------------- the file

TEST(CounterSet, ReadsTitleQuantitiesAndFallbacksInOrder) {
  const auto set = strata::parse_counter_set(
      head + quantity("reads", "a__b.sum, c__d.sum") + quantity("writes", "e__f.sum"),
      "some/mine.yaml");
  EXPECT_EQ(set.name, "mine");
  EXPECT_EQ(set.title, "mine");
  EXPECT_FALSE(set.built_in);
  ASSERT_EQ(set.quantities.size(), 2U);
  EXPECT_EQ(set.quantities[0].name, "reads");
  EXPECT_EQ(set.quantities[0].unit, "B");
  EXPECT_EQ(set.quantities[0].meaning, "what it is");
  ASSERT_EQ(set.quantities[0].metrics.size(), 2U);
  EXPECT_EQ(set.quantities[0].metrics[1].name, "c__d.sum");
  EXPECT_EQ(set.quantities[0].metrics[1].line, 7U);
}

TEST(CounterSet, RefusesWhatIsNotASetInOneLineWithFileAndLine) {
  const auto good = quantity("a", "a__b.sum");
  const std::map<std::string, std::pair<std::string, Names>> bad{
      {"", {":1: ", {"nothing", "schema"}}},
      {"- a\n", {":1: ", {"a list"}}},
      {"schema: 2\ntitle: x\nquantities:\n" + good, {":1: ", {"schema"}}},
      {"title: x\nquantities:\n" + good, {":1: ", {"no key 'schema'"}}},
      {"schema: 1\nquantities:\n" + good, {":1: ", {"no key 'title'"}}},
      {"schema: 1\ntitle: x\n", {":1: ", {"no key 'quantities'"}}},
      {"schema: 1\ntitle: x\nquantities: []\n", {":3: ", {"an empty list"}}},
      {"schema: 1\ntitle: ''\nquantities:\n" + good, {":2: ", {"title is ''"}}},
      {"schema: 1\ntitle: [x]\nquantities:\n" + good, {":2: ", {"title is a list"}}},
      {"schema: 1\ntitel: x\nquantities:\n" + good, {":2: ", {"'titel'", "did you mean 'title'"}}},
      {head + "  - a\n", {":4: ", {"'a' as an entry"}}},
      {head + good + good, {":8: ", {"'a' appears twice"}}},
      {head + "  - name: a\n    unit: B\n    metrics: [a__b.sum]\n", {":4: ", {"'meaning'"}}},
      {head + "  - name: a\n    meaning: b\n    metrics: [a__b.sum]\n", {":4: ", {"'unit'"}}},
      {head + "  - name: a\n    unit: B\n    meaning: b\n", {":4: ", {"'metrics'"}}},
      {head + "  - name: a\n    unit: B\n    meaning: b\n    metric: [a__b.sum]\n",
       {":7: ", {"'metric'", "did you mean 'metrics'"}}},
      {head + "  - name: a\n    unit: B\n    meaning: b\n    metrics: []\n",
       {":7: ", {"metrics is an empty list"}}},
      {head + "  - name: a\n    unit: B\n    meaning: b\n    metrics: a__b.sum\n",
       {":7: ", {"'a__b.sum'", "a list"}}},
      {head +
           "  - name: a\n    unit: B\n    meaning: b\n    metrics:\n      - a__b.sum\n      - {}\n",
       {":9: ", {"an empty mapping in the metrics of a"}}},
      {head + quantity("a", "bytes"), {":7: ", {"'bytes' in the metrics of a"}}},
      {head + quantity("a", "a__b.sum, a__b.sum"), {":7: ", {"'a__b.sum' of a appears twice"}}},
      {head + quantity("a b", "a__b.sum"), {":4: ", {"name is 'a b'"}}},
      {head + quantity("a__b", "a__b.sum"), {":4: ", {"name is 'a__b'"}}},
      {head + quantity(std::string(65, 'a'), "a__b.sum"), {":4: ", {"name is 'aaa"}}},
      {head + "  - name: a\n    unit: B\n    meaning: \"b\\nc\"\n    metrics: [a__b.sum]\n",
       {":6: ", {"meaning is"}}},
      {"schema: 1\ntitle: \xff\n", {":2: ", {"UTF-8"}}},
      {head + good + "---\n" + good, {":8: ", {"more after the end of the counter set"}}},
      {head + "  - &x\n    name: a\n", {":4: ", {"anchor"}}},
  };
  for (const auto& [text, expected] : bad) {
    const auto message = refusal(text);
    EXPECT_THAT(message, HasSubstr("mine.yaml" + expected.first)) << text;
    EXPECT_THAT(message, Not(HasSubstr("\n"))) << text;
    for (const auto& word : expected.second)
      EXPECT_THAT(message, HasSubstr(word)) << text;
  }
}

TEST(CounterSet, EveryBuiltInSetIsSoundAndSharesNoNameWithAnother) {
  std::set<std::string> names;
  for (const auto& name : strata::counter_set_names()) {
    const auto set = strata::load_counter_set(name, "test");
    EXPECT_EQ(set.name, name);
    EXPECT_TRUE(set.built_in);
    for (const auto& one : set.quantities)
      EXPECT_TRUE(names.insert(one.name).second) << one.name << " is in two sets";
  }
  // At least these: a file more is a set more.
  EXPECT_THAT(
      strata::counter_set_names(),
      testing::IsSupersetOf({"flops", "issue", "l2", "memory", "occupancy", "shared", "stalls"}));
}

TEST(CounterSet, ANameThatIsNoSetIsRefusedWithTheNearest) {
  const auto message =
      strata::message_of([] { (void)strata::load_counter_set("memry", "--counters"); });
  EXPECT_THAT(message, AllOf(HasSubstr("--counters: no counter set 'memry'"), HasSubstr("stalls"),
                             HasSubstr("did you mean 'memory'?")));
}

TEST(CounterSet, AFileThatIsNotThereIsRefusedByName) {
  const auto message =
      strata::message_of([] { (void)strata::load_counter_set("./no_such.yaml", "--counters"); });
  EXPECT_THAT(message, AllOf(HasSubstr("./no_such.yaml"), HasSubstr("a counter set file")));
}

TEST(CounterSet, ARawMetricIsToldFromASetAndAFile) {
  EXPECT_TRUE(strata::is_raw_metric("l1tex__t_bytes.sum"));
  EXPECT_TRUE(strata::is_raw_metric("l1tex__t_bytes"));
  EXPECT_FALSE(strata::is_raw_metric("memory"));
  EXPECT_FALSE(strata::is_raw_metric("my__set.yaml"));
  EXPECT_FALSE(strata::is_raw_metric("./my__set"));
}

// ------------------------------------------------------------------------------------- the plan

TEST(CounterPlan, HoldsMemoryEvenWhenNothingIsAskedFor) {
  auto chip = chip_with({});
  const auto plan = strata::resolve({}, chip);
  EXPECT_EQ(plan.chip, "FK100");
  EXPECT_THAT(plan.sets, ElementsAre("memory"));
  EXPECT_THAT(plan.absent, IsEmpty());
  EXPECT_EQ(plan.quantities.size(), memory_metrics().size());
  EXPECT_EQ(plan.passes, 4U);  // 14 metrics, four at a time
  ASSERT_NE(find(plan, "l1_load_sectors"), nullptr);
  EXPECT_EQ(find(plan, "l1_load_sectors")->set, "memory");
  EXPECT_EQ(find(plan, "l1_load_sectors")->unit, "sector");
}

TEST(CounterPlan, AsksForMemoryOnceWhereTheUserNamesItToo) {
  auto chip = chip_with({});
  const auto plan = strata::resolve({{"memory", "memory"}}, chip);
  EXPECT_THAT(plan.sets, ElementsAre("memory"));
  EXPECT_EQ(plan.quantities.size(), memory_metrics().size());
}

TEST(CounterPlan, OnlySumsAddUp) {
  auto chip = chip_with({"a__b.avg", "a__b.sum", "a__b.sum.per_second"});
  const auto plan = strata::resolve({{"a__b.avg", "a__b.sum", "a__b.sum.per_second"}}, chip);
  EXPECT_TRUE(find(plan, "l1_load_sectors")->additive);
  EXPECT_FALSE(find(plan, "l1_sectors_per_request")->additive);
  EXPECT_TRUE(find(plan, "a__b.sum")->additive);
  EXPECT_FALSE(find(plan, "a__b.avg")->additive);
  EXPECT_FALSE(find(plan, "a__b.sum.per_second")->additive);
}

TEST_F(CounterSetFile, TheFirstMetricThatTheChipHasStandsForAQuantity) {
  auto chip = chip_with({"second__m.sum", "third__m.sum"});
  chip.elsewhere = {"first__m.sum"};
  const auto file = write(head + quantity("q", "first__m.sum, second__m.sum, third__m.sum"));
  const auto plan = strata::resolve({{file}}, chip);
  ASSERT_NE(find(plan, "q"), nullptr);
  EXPECT_EQ(find(plan, "q")->metric, "second__m.sum");
  EXPECT_EQ(find(plan, "q")->set, "mine");
  EXPECT_THAT(plan.sets, ElementsAre("memory", file));
}

TEST_F(CounterSetFile, AQuantityThatTheChipLacksIsListedAndIsNoError) {
  auto chip = chip_with({});
  chip.elsewhere = {"a__m.sum", "b__m.sum"};
  const auto plan = strata::resolve({{write(head + quantity("q", "a__m.sum, b__m.sum"))}}, chip);
  EXPECT_EQ(find(plan, "q"), nullptr);
  EXPECT_THAT(plan.absent, ElementsAre("mine.q: FK100 has none of a__m.sum, b__m.sum"));
}

TEST_F(CounterSetFile, ABadMetricIsRefusedWithItsLineEvenBehindAGoodOne) {
  auto chip = chip_with({"good__m.sum"});
  chip.near = {"good__m.sum", "fine__m.sum"};
  const auto file = write(head + quantity("q", "good__m.sum, god__m.sum"));
  const auto message = strata::message_of([&] { (void)strata::resolve({{file}}, chip); });
  EXPECT_THAT(message, AllOf(HasSubstr("mine.yaml:7: no known chip has the metric 'god__m.sum'"),
                             HasSubstr("did you mean one of 'good__m.sum', 'fine__m.sum'?"),
                             Not(HasSubstr("\n"))));
}

TEST(CounterPlan, ABuiltInSetMayNameWhatAnOlderLibraryLacks) {
  FakeChip chip{{}};  // and no other chip has them either
  const auto plan = strata::resolve({}, chip);
  EXPECT_THAT(plan.quantities, IsEmpty());
  EXPECT_EQ(plan.absent.size(), memory_metrics().size());
}

TEST(CounterPlan, ARawMetricHasItsOwnNameAndTheUnitOfTheLibrary) {
  auto chip = chip_with({"raw__m.sum"});
  const auto plan = strata::resolve({{"raw__m.sum"}}, chip);
  const auto* const raw = find(plan, "raw__m.sum");
  ASSERT_NE(raw, nullptr);
  EXPECT_EQ(raw->metric, "raw__m.sum");
  EXPECT_EQ(raw->unit, "sector");
  EXPECT_EQ(raw->meaning, "of the fake chip");
  EXPECT_EQ(raw->set, "");
  EXPECT_THAT(plan.sets, ElementsAre("memory"));
}

TEST(CounterPlan, AnUnknownRawMetricIsRefusedUnderTheFlagThatNamedIt) {
  auto chip = chip_with({});
  chip.near = {"right__m.sum"};
  chip.elsewhere = {"other__m.sum"};
  EXPECT_THAT(
      strata::message_of([&] { (void)strata::resolve({{"rigt__m.sum"}}, chip, "--these"); }),
      AllOf(HasSubstr("--these: no known chip has the metric 'rigt__m.sum'"),
            HasSubstr("did you mean 'right__m.sum'?"), Not(HasSubstr("\n"))));
  EXPECT_THAT(strata::message_of([&] { (void)strata::resolve({{"other__m.sum"}}, chip); }),
              HasSubstr("--counters: FK100, unlike other chips, has no metric 'other__m.sum'"));
}

TEST_F(CounterSetFile, AMetricIsCountedOnceAndItsSecondNameIsSaid) {
  const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
  auto chip = chip_with({});
  const auto plan =
      strata::resolve({{sectors, write(head + quantity("mine_sectors", sectors))}}, chip);
  EXPECT_EQ(plan.quantities.size(), memory_metrics().size());
  EXPECT_EQ(find(plan, sectors), nullptr);
  EXPECT_THAT(plan.absent, ElementsAre("mine.mine_sectors: counted as l1_load_sectors"));
}

TEST_F(CounterSetFile, OneNameForTwoMetricsIsRefused) {
  auto chip = chip_with({"other__m.sum"});
  const auto file = write(head + quantity("l1_load_sectors", "other__m.sum"));
  EXPECT_THAT(strata::message_of([&] { (void)strata::resolve({{file}}, chip); }),
              AllOf(HasSubstr("mine.yaml:7: l1_load_sectors is other__m.sum"),
                    HasSubstr("in memory"), HasSubstr("rename it")));
}

TEST_F(CounterSetFile, AMetricThatCannotBeScheduledGivesWayToItsFallback) {
  auto chip = chip_with({"a__m.sum", "b__m.sum", "c__m.sum", "d__m.sum"});
  chip.unschedulable = {"a__m.sum", "d__m.sum"};
  const auto plan =
      strata::resolve({{write(head + quantity("q", "a__m.sum, b__m.sum") +
                              quantity("r", "c__m.sum") + quantity("s", "d__m.sum"))}},
                      chip);
  EXPECT_EQ(find(plan, "q")->metric, "b__m.sum");
  EXPECT_EQ(find(plan, "r")->metric, "c__m.sum");
  EXPECT_EQ(find(plan, "s"), nullptr);
  EXPECT_THAT(plan.absent, ElementsAre(HasSubstr("mine.s")));
}

TEST(CounterPlan, ARawMetricThatCannotBeScheduledIsNamed) {
  auto chip = chip_with({"a__m.sum", "b__m.sum"});
  chip.unschedulable = {"b__m.sum"};
  EXPECT_THAT(strata::message_of([&] {
                (void)strata::resolve({{"a__m.sum", "b__m.sum"}}, chip);
              }),
              HasSubstr("'b__m.sum' exists, but cannot be counted on FK100"));
}

TEST(CounterPlan, MetricsThatOnlyFailTogetherAreRefusedTogether) {
  auto chip = chip_with({"a__m.sum"});
  chip.most = memory_metrics().size();
  EXPECT_EQ(strata::resolve({}, chip).quantities.size(), chip.most);
  EXPECT_THAT(strata::message_of([&] { (void)strata::resolve({{"a__m.sum"}}, chip); }),
              HasSubstr("cannot be counted together on FK100"));
}

TEST_F(CounterSetFile, ASetOnItsOwnSaysWhatItCosts) {
  auto chip = chip_with({"a__m.sum", "c__m.sum"});
  chip.elsewhere = {"b__m.sum"};
  const auto set = strata::load_counter_set(
      write(head + quantity("q", "a__m.sum") + quantity("r", "b__m.sum, c__m.sum") +
            quantity("s", "b__m.sum")),
      "test");
  const auto resolved = strata::resolve_set(set, chip);
  EXPECT_EQ(resolved.passes, 1U);
  EXPECT_THAT(resolved.metrics(), ElementsAre("a__m.sum", "c__m.sum"));
  ASSERT_EQ(resolved.quantities.size(), 3U);
  EXPECT_EQ(resolved.quantities[0].choice, 0U);
  EXPECT_EQ(resolved.quantities[1].choice, 1U);
  EXPECT_FALSE(resolved.quantities[2].choice);
}

}  // namespace
