#include "harness/measure/counted_loads.hpp"

#include "fakes.hpp"
#include "harness/case/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace strata {
namespace {

using ::testing::HasSubstr;

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

TEST(GenerationOfADevice, ComesFromItsComputeCapability) {
  EXPECT_EQ(generation_of(Facts{{"compute_capability", std::string{"9.0"}}}), Generation::cc7);
  EXPECT_EQ(generation_of(Facts{{"compute_capability", std::string{"6.1"}}}), Generation::cc5);
  EXPECT_THROW((void)generation_of(Facts{}), std::runtime_error);
  EXPECT_THROW((void)generation_of(Facts{{"compute_capability", std::string{"nine"}}}),
               std::runtime_error);
}

// --- count_loads ---------------------------------------------------------------------------------

std::vector<CountedQuantity> known() {
  return {
      {.name = "l1_load_sectors",
       .metric = "l1.sum",
       .unit = "sector",
       .meaning = "",
       .set = "memory"},
      {.name = "never_counted", .metric = "x.sum", .unit = "1", .meaning = "", .set = "memory"}};
}

Counts l2_stream(double requests, double sectors) {
  return {{"l1_load_requests", requests}, {"l1_load_sectors", sectors}, {"l1_load_hit_sectors", 0},
          {"l2_load_sectors", sectors},   {"l2_load_miss_sectors", 0},  {"dram_read_bytes", 0}};
}

struct Counted {
  CaseRecord record;
  std::string calls;
};

Counted count_with(FakeSource& source, const Counts& work, const Counts& overhead) {
  Counted result;
  FakeDevice device;
  Cache cache;
  const Plan plan{};
  const Counting counting{.source = &source};
  Session session{plan, device, cache, result.record, counting};
  count_loads(session, {.prepare = [&] { result.calls += "p"; },
                        .work =
                            [&] {
                              result.calls += "w";
                              source.now = work;
                            },
                        .overhead =
                            [&] {
                              result.calls += "o";
                              source.now = overhead;
                            },
                        .claimed = ServedBy::l2,
                        .predicted = plain,
                        .reads = 50});
  return result;
}

double value(const CaseRecord& record, const std::string& quantity, Provenance provenance) {
  for (const auto& m : record.measurements) {
    if (m.quantity == quantity && m.provenance == provenance) return m.samples.at(0);
  }
  throw std::runtime_error{"no " + quantity};
}

TEST(CountLoads, TakesOffWhatTheKernelReadsWithoutReads) {
  FakeSource source{known()};
  const auto [record, calls] = count_with(source, l2_stream(104, 404), l2_stream(4, 4));
  for (const auto& gate : record.gates)
    EXPECT_EQ(gate.verdict, Verdict::passed) << gate.name << gate.detail;
  EXPECT_EQ(record.gates.size(), 2U);
  EXPECT_EQ(value(record, "sectors_per_request", Provenance::counted), 4);
  EXPECT_EQ(value(record, "sectors_per_request", Provenance::modelled), 4);
  EXPECT_EQ(value(record, "sectors_per_read", Provenance::counted), 8);
  EXPECT_EQ(value(record, "requests_per_read", Provenance::counted), 2);
  EXPECT_EQ(value(record, "l2_hit_share", Provenance::counted), 1);
  EXPECT_EQ(std::get<std::int64_t>(record.facts.at("overhead_requests")), 4);
}

TEST(CountLoads, KeepsTheWholeCountsAsTheyCame) {
  FakeSource source{known()};
  const auto [record, calls] = count_with(source, l2_stream(104, 404), l2_stream(4, 4));
  EXPECT_EQ(value(record, "l1_load_sectors", Provenance::counted), 404);
  EXPECT_THROW((void)value(record, "never_counted", Provenance::counted), std::runtime_error);
}

TEST(CountLoads, PreparesBeforeEveryPassAndLaunchesTheWorkLast) {
  FakeSource source{known()};
  EXPECT_EQ(count_with(source, l2_stream(100, 400), l2_stream(0, 0)).calls, "popopwpw");
}

TEST(CountLoads, FailsTheModelGateWhenTheHardwareSaysOtherwise) {
  FakeSource source{known()};
  const auto record = count_with(source, l2_stream(104, 405), l2_stream(4, 4)).record;
  EXPECT_EQ(record.gates.at(0).name, "model");
  EXPECT_EQ(record.gates.at(0).verdict, Verdict::failed);
  EXPECT_EQ(record.gates.at(1).verdict, Verdict::passed);
}

TEST(CountLoads, SkipsWhereAProfilerOutsideCounts) {
  FakeSource source{known()};
  EXPECT_THROW((void)count_with(source, {}, {}), Skipped);
}

TEST(CountLoads, NamesAQuantityThatItCannotDoWithout) {
  FakeSource source{known()};
  auto partly = l2_stream(104, 404);
  partly.erase("l2_load_sectors");
  try {
    (void)count_with(source, partly, l2_stream(4, 4));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("l2_load_sectors"));
  }
}

}  // namespace
}  // namespace strata
