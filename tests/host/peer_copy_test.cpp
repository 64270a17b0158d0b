#include "micro/transfer/peer_copy.hpp"

#include "harness/case/benchmark.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::peer_copy {
namespace {

bool excluded(const char* by, const char* direction, long long bytes) {
  return declare()
      .excludes({{"by", by}, {"direction", direction}, {"bytes", std::to_string(bytes)}},
                Backend::cuda)
      .has_value();
}

TEST(PeerCopyDeclaration, LeavesOutWhatHasNoMeaning) {
  EXPECT_FALSE(excluded("copy_engine", "both", 4));
  EXPECT_FALSE(excluded("kernel", "write", 1 << 30));
  EXPECT_FALSE(excluded("load", "read", 4));
  EXPECT_TRUE(excluded("load", "write", 4));
  EXPECT_TRUE(excluded("load", "read", 64));
  EXPECT_TRUE(excluded("kernel", "read", 6));
}

TEST(PeerCopyDeclaration, HasSizesFromAWordToAGibibyte) {
  const auto sizes = declare().axis("bytes")->defaults;
  EXPECT_EQ(sizes.front(), "4");
  EXPECT_EQ(sizes.back(), std::to_string(most_bytes));
  EXPECT_EQ(sizes.size(), 8U);
  EXPECT_NE(find_benchmark("peer_copy"), nullptr);
}

TEST(PeerCopySample, IsLongOrOfThreeCopies) {
  const auto copies = [](const Copy& one) {
    return copy_times::copies_per_sample(least_seconds(one));
  };
  EXPECT_EQ(copies({.bytes = 1U << 30U}), 3U);
  EXPECT_FALSE(copy_times::is_brief(least_seconds({.bytes = 1U << 30U})));
  for (const Copy& one : {Copy{.bytes = 4}, Copy{.bytes = 1U << 22U}}) {
    const double seconds = copies(one) * least_seconds(one);
    EXPECT_TRUE(copy_times::is_brief(least_seconds(one)));
    EXPECT_GT(seconds, 2.5e-4);
    EXPECT_LE(seconds, 5e-4);
  }
}

TEST(PeerCopyRows, AreTimesAndBytesOfBothDirectionsASecond) {
  for (const Direction direction : {Direction::read, Direction::write, Direction::both}) {
    const Experiment experiment = describe({.direction = direction, .bytes = 8});
    const double bytes = direction == Direction::both ? 16 : 8;
    const auto rows = rows_of(experiment, cuda_timers, {.numbers = {2, 4}});
    EXPECT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows.at("transfer_time by event").value, 2);
    EXPECT_EQ(rows.at("transfer_time by wall").value, 4);
    EXPECT_EQ(rows.at("bandwidth by event").value, bytes / 2);
    EXPECT_EQ(rows.at("bandwidth by wall").value, bytes / 4);
    EXPECT_FALSE(experiment.partly_host_time);
  }
}

/// Loads from the peer's L2 take 1000 cycles at 1 GHz, those from its memory 1500 at 1.5 GHz.
Sample sample_of_loads(double off = 1) {
  return {.slopes = {{.inside = {.cycles = 1000, .slowest = 1000, .hertz = 1e9}, .outside = 1010},
                     {.inside = {.cycles = 1500, .slowest = 1500, .hertz = 1.5e9},
                      .outside = 1520 * off}}};
}

TEST(PeerCopyRows, OfLoadsAreCyclesAndSecondsOfBothStates) {
  const Chain chain;
  const auto rows = rows_of(describe_loads(chain), cuda_timers, sample_of_loads());
  EXPECT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows.at("load_cycles_cached by clock64_slope").value, 1000);
  EXPECT_EQ(rows.at("load_cycles_cached by event_slope").value, 1010);
  EXPECT_EQ(rows.at("load_cycles_cached by event_slope").unit, "cycle");
  EXPECT_EQ(rows.at("load_cycles_uncached by clock64_slope").value, 1500);
  EXPECT_EQ(rows.at("load_cycles_uncached by event_slope").value, 1520);
  EXPECT_DOUBLE_EQ(rows.at("core_clock by clock64_over_globaltimer").value, 1.25e9);
  EXPECT_DOUBLE_EQ(rows.at("load_time_cached by event_slope").value, 1010 / 1.25e9);
  EXPECT_DOUBLE_EQ(rows.at("load_time_uncached by event_slope").value, 1520 / 1.25e9);
  EXPECT_EQ(rows.at("load_time_uncached by event_slope").unit, "s");
}

TEST(PeerCopyGates, CompareBothTimersOfEachState) {
  const Chain chain;
  FakeSession fake;
  report(fake.session, cuda_timers, describe_loads(chain),
         Collection<Sample>{.kept = {sample_of_loads(1.05)}});
  std::vector<Verdict> timers;
  for (const Gate& gate : fake.record.gates) {
    if (gate.name == "timer") timers.push_back(gate.verdict);
  }
  EXPECT_EQ(timers, (std::vector{Verdict::passed, Verdict::failed}));
  const Experiment copies = describe({.bytes = 8});
  EXPECT_EQ(verdict_of("timer", copies, {{.numbers = {3e-3, 3.01e-3}}}), Verdict::passed);
  EXPECT_EQ(verdict_of("timer", copies, {{.numbers = {3e-3, 4e-3}}}), Verdict::failed);
  EXPECT_THROW((void)verdict_of("timer", copies, {{.numbers = {1e-3, 2e-3}}}), std::out_of_range);
}

TEST(PeerCopyGates, AskThatBothWaysAreUnderWayTogether) {
  const auto overlap = [](double share) {
    return verdict_of("overlap", describe({.direction = Direction::both, .bytes = most_bytes}),
                      {{.numbers = {3e-3, 3.01e-3, share}}});
  };
  EXPECT_EQ(overlap(0.95), Verdict::passed);
  EXPECT_EQ(overlap(0.85), Verdict::failed);
  EXPECT_EQ(overlap(0.5), Verdict::failed);  // one behind the other, in one engine
  EXPECT_FALSE(describe({.direction = Direction::both, .bytes = 4}).conclude);
  EXPECT_FALSE(describe({.direction = Direction::read, .bytes = most_bytes}).conclude);
}

TEST(PeerCopyLoads, StartWithoutAWordOfTheChainAndEndWhereItLeads) {
  const Chain chain;
  const Experiment experiment = describe_loads(chain);
  for (const Slope& slope : experiment.slopes) {
    EXPECT_EQ(slope.start, Start::evicted);
    Tally tally;
    const Stamp right{.result = chain.after(640)};
    slope.verify({.length = slope.lengths.full}, {&right, 1}, tally);
    EXPECT_EQ(tally.different, 0U);
    slope.verify({.length = slope.lengths.brief}, {&right, 1}, tally);
    EXPECT_EQ(tally.different, 1U);
    EXPECT_EQ(tally.checked, 2U);
  }
}

TEST(PeerCopyBytes, AreThoseOfBothDirections) {
  EXPECT_EQ((Copy{.direction = Direction::read, .bytes = 8}).bytes_moved(), 8U);
  EXPECT_EQ((Copy{.direction = Direction::both, .bytes = 8}).bytes_moved(), 16U);
}

TEST(PeerCopyWords, TellTheSendersApart) {
  std::set<std::uint32_t> words;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    words.insert(sent_by(false).word(i));
    words.insert(sent_by(true).word(i));
  }
  EXPECT_EQ(words.size(), 2000U);
}

TEST(PeerCopyChain, LeadsThroughEverySlotAndBack) {
  const Chain chain;
  std::set<std::uint32_t> seen;
  std::uint32_t at = chain.after(0);
  for (std::uint32_t load = 0; load < slots; ++load) {
    ASSERT_EQ(at, chain.after(load));
    ASSERT_EQ(at % pitch, 0U);
    seen.insert(at);
    at = chain.words.at(at / sizeof(std::uint32_t));
  }
  EXPECT_EQ(at, chain.after(0));
  EXPECT_EQ(seen.size(), slots);
  EXPECT_EQ(chain.words.size(), std::size_t{slots} * pitch / sizeof(std::uint32_t));
}

TEST(PeerCopyChain, IsLongerThanAnyLaunchFollowsIt) {
  EXPECT_LT(long_loads, slots);
  EXPECT_EQ(long_loads / 5 % load_unroll, 0U);
  EXPECT_EQ(long_loads % load_unroll, 0U);
}

}  // namespace
}  // namespace strata::peer_copy
