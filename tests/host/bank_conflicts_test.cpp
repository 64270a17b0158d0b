#include "micro/access/bank_conflicts.hpp"

#include "harness/model/coalescing.hpp"
#include "harness/model/word_patterns.hpp"
#include "micro/pattern/particle_chain.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace strata::bank_conflicts {
namespace {

using enum Provenance;

std::uint64_t wavefronts(const Pattern& pattern) {
  return shared_wavefronts(access_of(pattern));
}

std::vector<Pattern> patterns() {
  std::vector<Pattern> all;
  for (const std::uint32_t width : {4U, 8U, 16U}) {
    for (const std::uint32_t stride : {1U, 2U, 7U, 32U, max_stride}) {
      for (const Sharing sharing : {Sharing::none, Sharing::pairs, Sharing::all})
        all.push_back(make_pattern(width, stride, sharing, /*store=*/false));
    }
  }
  return all;
}

TEST(BankConflictPatterns, TakeTheWavefrontsThatTextbooksGive) {
  EXPECT_EQ(wavefronts(make_pattern(4, 1, Sharing::none, false)), 1U);
  EXPECT_EQ(wavefronts(make_pattern(4, 2, Sharing::none, false)), 2U);
  EXPECT_EQ(wavefronts(make_pattern(4, 32, Sharing::none, false)), 32U);
  EXPECT_EQ(wavefronts(make_pattern(4, 33, Sharing::none, false)), 1U);
  EXPECT_EQ(wavefronts(make_pattern(8, 1, Sharing::none, false)), 2U);
  EXPECT_EQ(wavefronts(make_pattern(16, 1, Sharing::none, false)), 4U);
  EXPECT_EQ(wavefronts(make_pattern(4, 32, Sharing::pairs, false)), 16U);
  EXPECT_EQ(wavefronts(make_pattern(8, 1, Sharing::pairs, false)), 1U);
  EXPECT_EQ(wavefronts(make_pattern(16, 1, Sharing::all, false)), 2U);
}

TEST(BankConflictPatterns, StayInTheirField) {
  for (const auto& pattern : patterns()) {
    for (const std::uint32_t element : pattern.elements) {
      const std::uint32_t end =
          (element + 1) * pattern.width + (warps_per_sm - 1 + accesses_per_round - 1) * shift_bytes;
      EXPECT_LE(end, field_words * word_bytes);
    }
  }
}

TEST(BankConflictWindows, AreAnOddNumberThatFitsSideBySide) {
  for (const auto& pattern : patterns()) {
    const auto windows = windows_for(pattern);
    EXPECT_EQ(windows.count % 2, 1U);
    EXPECT_GE(windows.count, 3U);
    EXPECT_LE(windows.count * windows.bytes, chain_words * word_bytes);
    EXPECT_EQ(windows.bytes % shift_bytes, 0U);
    EXPECT_GE(windows.bytes, (*std::ranges::max_element(pattern.elements) + 1) * pattern.width);
    std::set<std::uint32_t> seen;
    for (std::uint32_t at = 0; seen.insert(at).second; at = windows.next.at(at)) {
    }
    EXPECT_EQ(seen.size(), windows.count);
  }
}

TEST(BankConflictChain, IsThatOfPlainLoadsThroughMemory) {
  for (const auto& pattern : patterns()) {
    const auto windows = windows_for(pattern);
    std::vector<std::uint32_t> memory(chain_words);
    for (std::uint32_t i = 0; i < chain_words; ++i)
      memory[i] = hashed_word(i);
    for (std::uint32_t w = 0; w < windows.count; ++w) {
      for (const std::uint32_t element : pattern.elements) {
        memory[(w * windows.bytes + element * pattern.width) / word_bytes] =
            windows.next.at(w) * windows.bytes + element * pattern.width;
      }
    }
    for (const std::uint32_t loads : {unroll, 5 * unroll}) {
      std::uint32_t sum = 0;
      for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        std::uint32_t at = pattern.elements.at(lane) * pattern.width;
        std::uint32_t others = 0;
        for (std::uint32_t i = 0; i < loads; ++i) {
          for (std::uint32_t w = 1; w < pattern.width / word_bytes; ++w)
            others += memory[at / word_bytes + w];
          at = memory[at / word_bytes];
        }
        sum += lane_weight(lane) * (others + at);
      }
      EXPECT_EQ(expected_chain(pattern, windows, loads), sum);
    }
  }
}

TEST(BankConflictLoads, SumUpTheWordsOfEveryAccess) {
  const auto pattern = make_pattern(8, 3, Sharing::none, false);
  std::uint32_t sum = 0;
  for (std::uint32_t access = 0; access < accesses_per_round; ++access) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t byte = 5 * shift_bytes + access * shift_bytes + lane * 24;
      sum += lane_weight(lane) * (hashed_word(byte / 4) + hashed_word(byte / 4 + 1));
    }
  }
  EXPECT_EQ(expected_sums(pattern)[5].word(1), sum);
  EXPECT_EQ(expected_sums(pattern)[5].word(7), 7 * sum);
}

TEST(BankConflictLoads, DifferFromWarpToWarpAndLaneToLane) {
  const auto pattern = make_pattern(4, 1, Sharing::none, false);
  auto turned = pattern;
  std::ranges::reverse(turned.elements);
  EXPECT_NE(expected_sums(pattern)[0], expected_sums(pattern)[1]);
  EXPECT_NE(expected_sums(pattern)[0], expected_sums(turned)[0]);
}

TEST(BankConflictStores, LeaveWhatEveryWarpWroteLast) {
  for (const std::uint32_t width : {4U, 8U, 16U}) {
    for (const std::uint32_t stride : {1U, 5U, 32U}) {
      const auto pattern = make_pattern(width, stride, Sharing::none, true);
      const auto stored = expected_sums(pattern);
      for (const std::uint32_t rounds : {1U, 3U}) {
        std::vector<std::uint32_t> field(field_words);
        for (std::uint32_t i = 0; i < field_words; ++i)
          field[i] = hashed_word(field_words + i);
        for (std::uint32_t round = 0; round < rounds; ++round) {
          for (std::uint32_t warp = 0; warp < warps_per_sm; ++warp) {
            for (std::uint32_t access = 0; access < accesses_per_round; ++access) {
              for (const std::uint32_t element : pattern.elements) {
                const std::uint32_t word =
                    (warp + access) * shift_words + element * width / word_bytes;
                for (std::uint32_t w = 0; w < width / word_bytes; ++w)
                  field.at(word + w) = hashed_word(word + w) + round * store_change;
              }
            }
          }
        }
        std::array<std::uint32_t, warps_per_sm> sums{};
        for (std::uint32_t i = 0; i < field_words; ++i)
          sums.at(i % (warps_per_sm * warp_lanes) / warp_lanes) += lane_weight(i) * field[i];
        for (std::uint32_t warp = 0; warp < warps_per_sm; ++warp)
          EXPECT_EQ(stored.at(warp).word(rounds), sums.at(warp));
      }
    }
  }
}

TEST(BankConflictSizes, TakeAboutTheTimeThatTheyShould) {
  for (const std::uint64_t k : {1U, 4U, 32U}) {
    const std::uint32_t rounds = rounds_for(4e5, k);
    EXPECT_EQ(rounds % 5, 0U);
    EXPECT_NEAR(rounds * static_cast<double>(k) * warps_per_sm * accesses_per_round, 4e5, 5e4);
    EXPECT_EQ(loads_for(4e5, k) % (5 * unroll), 0U);
    EXPECT_LT(loads_for(4e5, k), 4e5 / 28);
  }
  EXPECT_EQ(rounds_for(1, 32), 5U);
  EXPECT_EQ(loads_for(1, 32), 5 * unroll);
}

GpuFacts gpu() {
  GpuFacts facts;
  facts.sms = 100;
  return facts;
}
const Seen of_chain{
    .inside = {.cycles = 31, .slowest = 31, .hertz = 1.9e9}, .outside = 31.2, .seconds = 1.6e-8};
const Seen of_many{.inside = {.cycles = 2, .slowest = 2, .hertz = 2e9},
                   .outside = 2.02,
                   .seconds = 1e-9,
                   .full_seconds = 2e-4};

TEST(BankConflictRows, OfLoadsAreLatencyAndThroughput) {
  const auto pattern = make_pattern(8, 1, Sharing::none, /*store=*/false);
  const auto rows = rows_of(describe(pattern, gpu()), cuda_timers,
                            {.slopes = {of_chain, of_many}, .numbers = {}});
  EXPECT_EQ(rows, (RowsSeen{{"shared_load_latency by clock64_slope", {31, "cycle"}},
                            {"shared_load_latency by event_slope", {31.2, "cycle"}},
                            {"warp_access_cycles by clock64_slope", {2, "cycle"}},
                            {"warp_access_cycles by event_slope", {2.02, "cycle"}},
                            {"sm_bandwidth by clock64_slope", {32 * 8 / 2.0, "B/cycle"}},
                            {"bandwidth by event_slope", {100 * 32 * 8 / 1e-9, "B/s"}},
                            {"core_clock by clock64_over_globaltimer", {2e9, "Hz"}},
                            {"wavefronts_per_access by bank_model", {2, "wavefront", modelled}}}));
}

TEST(BankConflictRows, OfStoresHaveNoLatency) {
  const auto pattern = make_pattern(4, 2, Sharing::none, /*store=*/true);
  const auto rows =
      rows_of(describe(pattern, gpu()), cuda_timers, {.slopes = {of_many}, .numbers = {}});
  EXPECT_EQ(rows, (RowsSeen{{"warp_access_cycles by clock64_slope", {2, "cycle"}},
                            {"warp_access_cycles by event_slope", {2.02, "cycle"}},
                            {"sm_bandwidth by clock64_slope", {32 * 4 / 2.0, "B/cycle"}},
                            {"bandwidth by event_slope", {100 * 32 * 4 / 1e-9, "B/s"}},
                            {"core_clock by clock64_over_globaltimer", {2e9, "Hz"}},
                            {"wavefronts_per_access by bank_model", {2, "wavefront", modelled}}}));
}

TEST(BankConflictGates, CompareBothTimersOfBothSlopes) {
  const auto pattern = make_pattern(4, 1, Sharing::none, false);
  const auto verdicts = [&](double chain, double many) {
    Sample sample{.slopes = {of_chain, of_many}, .numbers = {}};
    sample.slopes[0].outside = chain;
    sample.slopes[1].outside = many;
    FakeSession fake;
    report(fake.session, cuda_timers, describe(pattern, gpu()), {.kept = {sample}});
    std::vector<Verdict> found;
    for (const Gate& gate : fake.record.gates) {
      if (gate.name == "timer") found.push_back(gate.verdict);
    }
    return found;
  };
  EXPECT_EQ(verdicts(31.2, 2.02), (std::vector{Verdict::passed, Verdict::passed}));
  EXPECT_EQ(verdicts(32.2, 2.02), (std::vector{Verdict::failed, Verdict::passed}));
  EXPECT_EQ(verdicts(31.2, 2.1), (std::vector{Verdict::passed, Verdict::failed}));
}

TEST(BankConflictGates, VerifyTheChainAndEveryWarp) {
  for (const bool store : {false, true}) {
    const auto pattern = make_pattern(8, 3, Sharing::none, store);
    const Experiment experiment = describe(pattern, gpu());
    ASSERT_EQ(experiment.slopes.size(), store ? 1U : 2U);
    const Slope& many = experiment.slopes.back();
    EXPECT_TRUE(many.held);
    EXPECT_EQ(many.writers, 100U * warps_per_sm);
    EXPECT_EQ(many.lengths.full.rounds, 5 * many.lengths.brief.rounds);
    EXPECT_EQ(many.lengths.full.work, many.lengths.full.rounds * 8.0 * warps_per_sm);
    std::vector<Stamp> stamps(many.writers);
    const auto expected = expected_sums(pattern);
    for (std::uint32_t i = 0; i < stamps.size(); ++i)
      stamps[i].result = expected.at(i % warps_per_sm).word(7);
    stamps[40].result += 1;
    Tally tally;
    many.verify({.length = {.rounds = 7}}, stamps, tally);
    EXPECT_EQ(tally.checked, stamps.size());
    EXPECT_EQ(tally.different, 1U);
    EXPECT_EQ(experiment.placement.value().cores, 100U);
    EXPECT_EQ(experiment.placement.value().per_core, int{warps_per_sm});
    EXPECT_EQ(experiment.unproved.gate, "model");
    if (store) continue;
    const Slope& chain = experiment.slopes.front();
    EXPECT_TRUE(chain.held);
    EXPECT_EQ(chain.writers, 1U);
    EXPECT_EQ(chain.lengths.full.rounds, 5 * chain.lengths.brief.rounds);
    EXPECT_EQ(chain.lengths.full.work, chain.lengths.full.rounds);
    stamps[0].result = expected_chain(pattern, windows_for(pattern), 5 * unroll);
    chain.verify({.length = {.rounds = 5 * unroll}}, std::span{stamps}.first(1), tally);
    EXPECT_EQ(tally.different, 1U);
    chain.verify({.length = {.rounds = 6 * unroll}}, std::span{stamps}.first(1), tally);
    EXPECT_EQ(tally.different, 2U);
  }
}

TEST(BankConflictCounts, AreThoseOfTheModelForLoadsAndNearlyForStores) {
  for (const bool store : {false, true}) {
    const Experiment experiment = describe(make_pattern(4, 4, Sharing::none, store), gpu());
    const CountPlan& plan = experiment.counts.value();
    const double accesses = 100.0 * warps_per_sm * accesses_per_round * 32;
    EXPECT_EQ(plan.slope, experiment.slopes.size() - 1);
    EXPECT_EQ(plan.length.rounds, 32U);
    EXPECT_EQ(plan.none.rounds, 0U);
    ASSERT_EQ(plan.expected.size(), 2U);
    EXPECT_EQ(plan.expected[0].quantity, store ? "shared_store_requests" : "shared_load_requests");
    EXPECT_EQ(plan.expected[0].predicted, accesses);
    EXPECT_EQ(plan.expected[0].bound, 0);
    EXPECT_EQ(plan.expected[1].quantity,
              store ? "shared_store_wavefronts" : "shared_load_wavefronts");
    EXPECT_EQ(plan.expected[1].predicted, 4 * accesses);
    EXPECT_EQ(plan.expected[1].bound, store ? 0.1 / 4 : 0);
    EXPECT_EQ(plan.model, "bank_model");
    EXPECT_EQ(plan.unit, "access");
    EXPECT_EQ(plan.units, accesses);
  }
}

TEST(BankConflictDeclaration, LeavesOutWhatHasNoMeaning) {
  const auto* const enrolled = find_benchmark("bank_conflicts");
  ASSERT_NE(enrolled, nullptr);
  const auto excludes = [&](const char* operation, const char* pattern, const char* stride) {
    return enrolled->benchmark
        .excludes({{"operation", operation}, {"pattern", pattern}, {"stride", stride}},
                  Backend::cuda)
        .has_value();
  };
  EXPECT_FALSE(excludes("load", "stride", "7"));
  EXPECT_FALSE(excludes("store", "stride", "7"));
  EXPECT_FALSE(excludes("load", "multicast", "7"));
  EXPECT_FALSE(excludes("load", "broadcast", "1"));
  EXPECT_TRUE(excludes("load", "broadcast", "2"));
  EXPECT_TRUE(excludes("store", "multicast", "1"));
  EXPECT_TRUE(excludes("store", "broadcast", "1"));
}

}  // namespace
}  // namespace strata::bank_conflicts
