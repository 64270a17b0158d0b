#include "harness/run/count_batches.hpp"

#include "fakes.hpp"
#include "harness/base/error.hpp"
#include "harness/case/benchmark.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace strata {
namespace {

/// Two passes; counts a range as the number of times that it ran in this session.
class FakePasses final : public CounterSource, public CounterPasses {
 public:
  [[nodiscard]] const CounterPlan& plan() const override { return plan_; }
  void attach() override {}
  [[nodiscard]] std::optional<std::vector<Counts>> count(
      std::span<const CountedRange> /*ranges*/) override {
    throw std::logic_error{"each case has a session of its own, which is what is to be avoided"};
  }
  void narrow(const std::vector<std::string>& sets) override {
    changes += sets == narrowed ? 0 : 1;
    narrowed = sets;
  }
  [[nodiscard]] CounterPasses* passes() override { return this; }
  void begin(std::size_t most_ranges) override {
    calls += "begin;";
    room = most_ranges;
    pass_ = 0;
    ran.clear();
  }
  void begin_pass() override {
    calls += "pass;";
    if (fail_in_pass) throw std::runtime_error{"the profiler went away"};
  }
  void run(const CountedRange& range) override {
    broken_ = true;
    range.prepare();
    range.work();
    broken_ = false;
    calls += range.name + ";";
    ++ran[range.name]["runs"];
  }
  [[nodiscard]] bool end_pass() override { return ++pass_ == 2; }
  [[nodiscard]] std::map<std::string, Counts, std::less<>> results() override {
    calls += "results;";
    return ran;
  }
  [[nodiscard]] bool broken() const override { return broken_; }

  std::string calls;
  std::vector<std::string> narrowed;
  int changes = 0;  ///< of the sets
  std::size_t room = 0;
  bool fail_in_pass = false;
  std::map<std::string, Counts, std::less<>> ran;

 private:
  CounterPlan plan_{
      .chip = "GX1", .sets = {"memory", "shared", "flops"}, .quantities = {}, .absent = {}};
  int pass_ = 0;
  bool broken_ = false;
};

int works = 0;  // how often a body's work ran

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "batch_probe",
      .question = "Does a batch count every case once?",
      .axes =
          {{.name = "data", .meaning = "what it reads", .choices = {"a", "b"}, .defaults = {"a"}},
           {.name = "does",
            .meaning = "what happens",
            .choices = {"fine", "skip", "throw_in_work", "throw_before"},
            .defaults = {"fine"}},
           {.name = "n", .meaning = "any", .minimum = 0, .maximum = 999, .defaults = {"0"}}},
      .data_axes = 1,
      .counter_sets = {"shared", "stalls"},
      .quantities = {{"runs", "made up"}}};
}

void body(Session& session) {
  const auto& does = session.param("does");
  if (does == "skip") throw Skipped{"not here"};
  if (does == "throw_before") throw std::runtime_error{"it broke early"};
  const CountedRange range{.name = "work",
                           .prepare = [] {},
                           .work =
                               [&] {
                                 if (does == "throw_in_work") throw std::runtime_error{"it broke"};
                                 ++works;
                               }};
  const auto counted = session.counters()->count({&range, 1});
  if (!counted) {
    session.wait_for_counts();
    return;
  }
  session.add(Measurement{.quantity = "runs",
                          .unit = "1",
                          .provenance = Provenance::counted,
                          .method = "fake",
                          .samples = {counted->at(0).at("runs")}});
}

STRATA_BENCHMARK(declare, host, body);

Benchmark declare_plain() {
  Benchmark plain = declare();
  plain.name = "batch_plain";
  plain.counter_sets = {};
  return plain;
}
namespace without_sets {
STRATA_BENCHMARK(declare_plain, host, body);
}

Case probe(const std::string& does, int n = 0, const std::string& data = "a") {
  return {.suite = "micro",
          .benchmark = "batch_probe",
          .backend = Backend::host,
          .params = {{"data", data}, {"does", does}, {"n", std::to_string(n)}}};
}

struct BatchesCounted {
  std::vector<CaseRecord> records;
  std::string order;
};

BatchesCounted count(const std::vector<Case>& cases, FakePasses& source,
                     bool by_benchmark = false) {
  works = 0;
  BatchesCounted counting;
  FakeDevice device{Backend::host};
  Cache cache;
  count_in_batches(
      cases, Plan{}, device, cache, source, by_benchmark,
      {.begin = [&](const Case& which) { counting.order += "+" + which.params.at("n"); },
       .end =
           [&](const CaseRecord& record) {
             counting.order += "-" + record.which.params.at("n");
             counting.records.push_back(record);
           },
       .stop = [] { return false; }});
  EXPECT_EQ(device.open, 0) << "a case was begun and not ended";
  return counting;
}

TEST(CountInBatches, RunsAllCasesInEachPassAndOnceMoreForTheirRecords) {
  FakePasses source;
  const auto [records, order] = count({probe("fine", 1), probe("fine", 2)}, source);
  EXPECT_EQ(source.calls, "begin;pass;0.work;1.work;pass;0.work;1.work;results;");
  EXPECT_EQ(order, "+1+2+1+2+1-1+2-2");
  EXPECT_EQ(works, 6);
  ASSERT_EQ(records.size(), 2U);
  for (const auto& record : records) {
    EXPECT_EQ(record.status, Status::measured) << record.reason;
    EXPECT_EQ(record.phase, Phase::counting);
    EXPECT_EQ(record.measurements.at(0).samples, std::vector<double>{2});
  }
}

TEST(CountInBatches, GivesTheRecordOfACaseThatIsSkippedOrFailsBeforeItsWork) {
  FakePasses source;
  const auto [records, order] =
      count({probe("skip", 1), probe("throw_before", 2), probe("fine", 3)}, source);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].status, Status::skipped);
  EXPECT_EQ(records[1].status, Status::failed);
  EXPECT_EQ(records[1].reason, "it broke early");
  EXPECT_EQ(records[2].status, Status::measured);
  EXPECT_EQ(order, "+1-1+2-2+3+3+3-3");
}

TEST(CountInBatches, EndsAfterWorkThatThrewAndLeavesTheRestToOthers) {
  FakePasses source;
  const auto [records, order] =
      count({probe("fine", 1), probe("throw_in_work", 2), probe("fine", 3)}, source);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].which.params.at("n"), "2");
  EXPECT_EQ(records[0].reason, "it broke");
  EXPECT_TRUE(source.broken());
}

TEST(CountInBatches, FailsEveryCaseOfASessionThatFails) {
  FakePasses source;
  source.fail_in_pass = true;
  const auto [records, order] = count({probe("fine", 1), probe("fine", 2)}, source);
  ASSERT_EQ(records.size(), 2U);
  for (const auto& record : records) {
    EXPECT_EQ(record.status, Status::failed);
    EXPECT_EQ(record.phase, Phase::counting);
    EXPECT_EQ(record.reason, "the profiler went away");
  }
}

TEST(CountInBatches, CountsOfABenchmarkWhatItWantsOfWhatWasOpened) {
  FakePasses source;
  (void)count({probe("fine", 1)}, source, /*by_benchmark=*/true);
  EXPECT_EQ(source.narrowed, (std::vector<std::string>{"memory", "shared"}));
}

TEST(CountInBatches, ChangesItsSetsAsRarelyAsPossible) {
  FakePasses source;
  const auto plain = [](int n) {
    Case which = probe("fine", n);
    which.benchmark = "batch_plain";
    return which;
  };
  const auto counting = count({probe("fine", 1), plain(2), probe("fine", 3, "b"), plain(4)}, source,
                              /*by_benchmark=*/true);
  EXPECT_EQ(source.changes, 2) << "each set once";
  EXPECT_EQ(counting.records.size(), 4U);
}

TEST(CountInBatches, CountsAllThatWasAskedForByName) {
  FakePasses source;
  (void)count({probe("fine", 1)}, source);
  EXPECT_TRUE(source.narrowed.empty());
}

TEST(CountInBatches, StopsBetweenCasesWhenTold) {
  FakePasses source;
  FakeDevice device{Backend::host};
  Cache cache;
  int begun = 0;
  count_in_batches(std::vector<Case>{probe("fine", 1), probe("fine", 2)}, Plan{}, device, cache,
                   source, /*by_benchmark=*/false,
                   {.begin = [&](const Case&) { ++begun; },
                    .end = [](const CaseRecord&) {},
                    .stop = [&] { return begun > 0; }});
  EXPECT_EQ(begun, 1);
}

TEST(Batches, PartWhereTheDataChange) {
  const auto batches = batches_of(
      std::vector<Case>{probe("fine", 1, "a"), probe("skip", 2, "a"), probe("fine", 3, "b")});
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].size(), 2U);
  EXPECT_EQ(batches[1].size(), 1U);
}

TEST(Batches, HoldNoMoreThanTheMost) {
  std::vector<Case> cases;
  for (int n = 0; n < 150; ++n)
    cases.push_back(probe("fine", n));
  const auto batches = batches_of(cases);
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[0].size(), most_in_a_batch);
  EXPECT_EQ(batches[2].size(), 150 - 2 * most_in_a_batch);
}

TEST(Batches, OfNothingAreNone) {
  EXPECT_TRUE(batches_of({}).empty());
}

}  // namespace
}  // namespace strata
