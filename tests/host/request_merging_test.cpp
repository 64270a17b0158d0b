#include "micro/access/request_merging.cu"

#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace strata::request_merging {
namespace {

TEST(RequestMergingWords, NeverHoldWhatALoadCannotWaitFor) {
  std::uint32_t sum = 0;
  for (std::uint32_t word = 0; word < rounds * lanes; ++word) {
    ASSERT_NE(words.word(word), 0xFFFFFFFFU);
    sum += words.word(word);
  }
  EXPECT_EQ(sum_of_lines(rounds), sum);
  EXPECT_EQ(sum_of_lines(0), 0U);
}

/// The stamp of SM `rank` after so many rounds: a load takes `load` cycles and begins `wait` after
/// the barrier, and a launch has some more of both.
Stamp stamp(std::uint32_t rank, std::uint32_t rounds, std::uint64_t load, std::uint64_t wait) {
  Stamp one{};
  one.cycles[1] = 2000 * rounds;
  one.nanoseconds[1] = 1000 * rounds;
  one.cycles[load_mark] = 77 + rounds * load;
  one.cycles[wait_mark] = 33 + rounds * wait;
  one.result = sum_of_lines(rounds);
  one.core = 40 + rank;
  one.tag = rank;
  return one;
}

Launched launch(std::uint32_t rounds) {
  Launched launched{.length = {.rounds = rounds, .work = double{1} * rounds}, .seconds = 1e-3};
  // In no order of ranks.
  launched.stamps = {stamp(2, rounds, 250, 470), stamp(0, rounds, 300, 410),
                     stamp(1, rounds, 260, 450), stamp(3, rounds, 270, 460)};
  return launched;
}

Sample sample() {
  const Slope slope = describe({{"sms", "4"}, {"delay", "50"}}, {.major = 9}).slopes.at(0);
  const Launched brief = launch(slope.lengths.brief.rounds);
  const Launched full = launch(slope.lengths.full.rounds);
  return {.slopes = {{.inside = slope.window.read(brief, full)}}, .numbers = {}};
}

TEST(RequestMergingRows, AreOfTheFirstSmAndOfTheMedianOfTheOthers) {
  EXPECT_EQ(rows_of(describe({{"sms", "4"}, {"delay", "50"}}, {.major = 9}), cuda_timers, sample()),
            (RowsSeen{{"first_load_cycles by clock64_mean", {300, "cycle"}},
                      {"other_load_cycles by clock64_mean", {260, "cycle"}},
                      {"delay_cycles by clock64_mean", {50, "cycle"}},
                      {"core_clock by clock64_over_globaltimer", {2e9, "Hz"}}}));
}

TEST(RequestMergingRows, WantTheSameBlocksInBothLaunches) {
  const Slope slope = describe({{"sms", "4"}, {"delay", "50"}}, {.major = 9}).slopes.at(0);
  Launched brief = launch(200);
  brief.stamps.pop_back();
  EXPECT_THROW((void)slope.window.read(brief, launch(1000)), std::runtime_error);
}

/// What four SMs count that load each line, of which so many sectors reach L2.
Counted counted(double l2, double l1_hits = 0, double l2_missed = 0) {
  constexpr double all = 4.0 * rounds * sectors_of_line;
  return {.whole = {{"l1_load_requests", 4.0 * rounds},
                    {"l1_load_sectors", all},
                    {"l1_load_hit_sectors", l1_hits},
                    {"l2_load_sectors", 100 + l2 * all},
                    {"l2_load_miss_sectors", l2_missed * all}},
          .overhead = {{"l1_load_requests", 0},
                       {"l1_load_sectors", 0},
                       {"l1_load_hit_sectors", 0},
                       {"l2_load_sectors", 100},
                       {"l2_load_miss_sectors", 0}}};
}

/// The verdicts on counts of four SMs.
struct Judged : FakeSession {
  explicit Judged(const Counted& of) {
    judge_counts(session, describe({{"sms", "4"}, {"delay", "0"}}, {.major = 9}).counts.value(),
                 of);
  }
  [[nodiscard]] double l2_share() const {
    for (const Measurement& one : record.measurements) {
      if (one.quantity == "l2_sectors_per_missed_sector") return one.samples.at(0);
    }
    throw std::out_of_range{"no row of the L2 share"};
  }
};

TEST(RequestMergingCounts, HaveRowsPerReadWithoutAClaimedLevel) {
  CountPlan plan = describe({{"sms", "4"}, {"delay", "0"}}, {.major = 9}).counts.value();
  plan.rows = LoadRows::per_read;
  plan.reads = 4.0 * rounds;
  FakeSession fake;
  judge_counts(fake.session, plan, counted(0.5));
  const auto row =
      std::ranges::find(fake.record.measurements, "requests_per_read", &Measurement::quantity);
  ASSERT_NE(row, fake.record.measurements.end());
  EXPECT_EQ(row->samples.front(), 1);
}

TEST(RequestMergingCounts, ReportTheShareOfSectorsRequestedFromL2) {
  for (const double share : {1.0, 0.5, 0.25}) {
    const Judged judged{counted(share)};
    EXPECT_EQ(judged.l2_share(), share);
    EXPECT_EQ(judged.verdict("level"), Verdict::passed);
    EXPECT_EQ(judged.verdict("model"), Verdict::passed);
  }
}

}  // namespace
}  // namespace strata::request_merging
