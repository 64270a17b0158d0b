#include "micro/access/short_words.hpp"

#include "harness/record/device.hpp"
#include "harness/run/case_runner.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace strata::short_words {
namespace {

TEST(ShortWordsSum, CarriesNothingFromOneElementIntoTheNext) {
  for (const std::uint32_t a : {0U, 0x01FF80FFU, 0xFFFFFFFFU, 0x80007FFFU, 0x12345678U}) {
    for (const std::uint32_t b : {0U, 0x01010101U, 0xFFFFFFFFU, 0x80008001U, 0xFEDCBA98U}) {
      for (const std::uint32_t element : {1U, 2U, 4U}) {
        std::uint32_t expected = 0;
        const std::uint32_t bits = 8 * element;
        for (std::uint32_t at = 0; at < 32; at += bits) {
          const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
          const std::uint64_t sum = ((a >> at) & mask) + ((b >> at) & mask);
          expected |= static_cast<std::uint32_t>((sum & mask) << at);
        }
        EXPECT_EQ(sum_of_elements(a, b, element), expected) << a << ' ' << b << ' ' << element;
      }
    }
  }
}

TEST(ShortWordsForm, TakesEachGroupOnceInEitherOrder) {
  for (const bool coalesced : {true, false}) {
    const Form form{.element = 4, .group = 16, .together = true, .coalesced = coalesced};
    // The whole matrix is many blocks: one thread of each, and all threads of some.
    std::set<std::uint64_t> groups;
    for (std::uint64_t block = 0; block < form.blocks(); ++block)
      groups.insert(5 * std::uint64_t{form.thread_step()} + block * form.block_step());
    EXPECT_EQ(groups.size(), form.blocks());
    const std::uint64_t last = std::uint64_t{threads - 1} * form.thread_step() +
                               std::uint64_t{form.blocks() - 1} * form.block_step();
    EXPECT_EQ((last + 1) * form.group, matrix_bytes);
  }
}

TEST(ShortWordsPrediction, FollowsFromTheAddresses) {
  const std::uint64_t words = matrix_bytes / 4;
  const auto plain = predicted({.element = 4, .group = 4, .together = true, .coalesced = true});
  EXPECT_EQ(plain[0].predicted, 2 * words / 32);
  EXPECT_EQ(plain[1].predicted, 2 * words / 8);
  EXPECT_EQ(plain[2].predicted, words / 8);
  // Every lane has a sector of its own.
  const auto apart = predicted({.element = 4, .group = 4, .together = true, .coalesced = false});
  EXPECT_EQ(apart[1].predicted, 2 * words);
  // Sixteen bytes, one after the other: each of the accesses touches every sector.
  const auto serial = predicted({.element = 1, .group = 16, .together = false, .coalesced = true});
  EXPECT_EQ(serial[0].predicted, 2 * matrix_bytes / 32);
  EXPECT_EQ(serial[1].predicted, 2 * matrix_bytes / 32 * 16);
  const auto vector = predicted({.element = 1, .group = 16, .together = true, .coalesced = true});
  EXPECT_EQ(vector[1].predicted, 2 * matrix_bytes / 32);
}

/// One addition more takes 1 ms by events and 1.01 ms by replays, beside 3 ms of start-up.
Sample sample_of(double by_graph = 1.01e-3) {
  return {.slopes = {}, .numbers = {4e-3, 6e-3, 3e-3 + by_graph, 3e-3 + 3 * by_graph, 1.5e9}};
}

TEST(ShortWordsRows, AreOfOneAdditionMore) {
  const Experiment experiment = describe({});
  EXPECT_EQ(rows_of(experiment, cuda_timers, sample_of()),
            (RowsSeen{{"kernel_time by event_slope", {1e-3, "s"}},
                      {"kernel_time by graph_slope", {1.01e-3, "s"}},
                      {"useful_bandwidth by event_slope", {3.0 * matrix_bytes / 1e-3, "B/s"}},
                      {"core_clock by clock64_over_globaltimer", {1.5e9, "Hz"}}}));
  EXPECT_EQ(verdict_of("timer", experiment, {sample_of()}), Verdict::passed);
  EXPECT_EQ(verdict_of("timer", experiment, {sample_of(1.03e-3)}), Verdict::failed);
  EXPECT_EQ(verdict_of("timer", experiment, {sample_of(0.97e-3)}), Verdict::failed);
  EXPECT_EQ(std::get<std::int64_t>(experiment.facts(experiment).at("footprint_bytes")),
            static_cast<std::int64_t>(3 * matrix_bytes));
}

TEST(ShortWordsRows, OfACpuAreOfAPass) {
  const Experiment experiment = describe_host(12'000);
  const auto sample = [](double cycles) {
    return Sample{.slopes = {{.inside = {.cycles = cycles, .slowest = cycles, .hertz = 2e9},
                              .outside = 0,
                              .seconds = 1e-3,
                              .full_seconds = 0}},
                  .numbers = {}};
  };
  EXPECT_EQ(rows_of(experiment, host_timers, sample(2.02e6)),
            (RowsSeen{{"kernel_time by tsc_slope", {1.01e-3, "s"}},
                      {"kernel_time by monotonic_slope", {1e-3, "s"}},
                      {"useful_bandwidth by monotonic_slope", {12'000 / 1e-3, "B/s"}},
                      {"core_clock by dependent_adds", {2e9, "Hz"}}}));
  EXPECT_EQ(verdict_of("timer", experiment, {sample(2.02e6)}), Verdict::passed);
  EXPECT_EQ(verdict_of("timer", experiment, {sample(2.06e6)}), Verdict::failed);
  EXPECT_EQ(verdict_of("timer", experiment, {sample(1.94e6)}), Verdict::failed);
}

TEST(ShortWordsCounts, AreThoseOfALaunch) {
  const Form form{.element = 1, .group = 16, .together = true, .coalesced = true};
  const CountPlan plan = describe(form).counts.value();
  const std::vector<Expectation> model = predicted(form);
  EXPECT_EQ(plan.length.rounds, 1U);
  EXPECT_EQ(plan.none.rounds, 0U);
  ASSERT_EQ(plan.expected.size(), 3U);
  EXPECT_EQ(plan.expected[0].quantity, "l1_load_requests");
  EXPECT_EQ(plan.expected[0].predicted, model[0].predicted);
  EXPECT_EQ(plan.expected[1].quantity, "l1_load_sectors");
  EXPECT_EQ(plan.expected[1].predicted, model[1].predicted);
  EXPECT_EQ(plan.expected[2].quantity, "l1_store_sectors");
  EXPECT_EQ(plan.expected[2].predicted, model[2].predicted);
  for (const Expectation& one : plan.expected)
    EXPECT_EQ(one.bound, 0);
  EXPECT_EQ(plan.model + plan.unit, "coalescing_modellaunch");
  EXPECT_EQ(plan.units, 1);
}

TEST(ShortWordsDeclaration, KnowsOnlyGroupsOfWholeElements) {
  const auto* const known = find_benchmark("short_words");
  ASSERT_NE(known, nullptr);
  const auto excluded = [&](const char* element, const char* group, const char* access) {
    const Params params{
        {"element", element}, {"order", "coalesced"}, {"group", group}, {"access", access}};
    return known->benchmark.excludes(params, Backend::cuda).has_value();
  };
  EXPECT_FALSE(excluded("1", "1", "together"));
  EXPECT_TRUE(excluded("1", "1", "apart"));
  EXPECT_FALSE(excluded("1", "4", "apart"));
  EXPECT_TRUE(excluded("4", "2", "together"));
}

std::vector<Params> host_cases() {
  const Benchmark b = declare();
  std::vector<Params> all;
  for (const auto& element : b.axis("element")->defaults) {
    for (const auto& order : b.axis("order")->defaults) {
      for (const auto& group : b.axis("group")->defaults) {
        for (const auto& access : b.axis("access")->defaults) {
          const Params params{
              {"element", element}, {"order", order}, {"group", group}, {"access", access}};
          if (!b.excludes(params, Backend::host)) all.push_back(params);
        }
      }
    }
  }
  return all;
}

TEST(ShortWordsDeclaration, HasACpuTakeGroupsApartDownTheColumnsOnly) {
  std::size_t apart = 0;
  for (const Params& params : host_cases()) {
    if (params.at("access") == "together") continue;
    EXPECT_EQ(params.at("order"), "uncoalesced");
    ++apart;
  }
  EXPECT_EQ(apart, 9U);
  EXPECT_EQ(host_cases().size(), 2 * 12U + apart);
}

TEST(ShortWordsOnThisCpu, AddEveryElementInEveryForm) {
  const auto device = open_host_device();
  Cache cache;
  const Plan plan{.warmups = 0, .min_samples = 1, .max_samples = 1};
  for (const Params& params : host_cases()) {
    const Case which{
        .suite = "micro", .benchmark = "short_words", .backend = Backend::host, .params = params};
    const CaseRecord record = run_case(which, plan, *device, cache);
    ASSERT_EQ(record.status, Status::measured) << record.reason;
    std::set<std::string> keys;
    for (const auto& m : record.measurements)
      keys.insert(m.quantity + '/' + m.method);
    EXPECT_TRUE(keys.contains("kernel_time/tsc_slope"));
    EXPECT_TRUE(keys.contains("kernel_time/monotonic_slope"));
    EXPECT_TRUE(keys.contains("useful_bandwidth/monotonic_slope"));
    const auto result = std::ranges::find(record.gates, "result", &Gate::name);
    ASSERT_NE(result, record.gates.end());
    EXPECT_EQ(result->verdict, Verdict::passed) << result->detail;
  }
}

}  // namespace
}  // namespace strata::short_words
