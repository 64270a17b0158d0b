#include "micro/bandwidth/bandwidth.hpp"

#include "harness/case/error.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace strata {
namespace {

using namespace bandwidth;

constexpr std::uint64_t mebi = 1U << 20U;

constexpr std::uint64_t large_pool = 2048 * mebi;
constexpr std::uint64_t small_pool = 256 * mebi;

GpuFacts large() {
  return {.sms = 132,
          .compute_capability = "9.0",
          .major = 9,
          .l2_bytes = 60 * mebi,
          .memory_bytes = 8192 * mebi,
          .shared_per_sm = 233472,
          .shared_per_block = 232448,
          .core_clock_peak = 1.98e9,
          .dram_pin_bandwidth = 4.8e12};
}
/// One on which every word can be walked over in a test.
GpuFacts small() {
  GpuFacts gpu = large();
  gpu.sms = 3;
  gpu.l2_bytes = 4 * mebi;
  return gpu;
}

/// Calls visit(block, warp, first byte) for each chunk of an array that a launch touches, by the
/// words of the header and by nothing else.
template <class Visit>
void walk_over(const bandwidth::Plan& plan, const Length& launch, Visit&& visit) {
  const AddressPattern& w = plan.pattern;
  for (std::uint64_t block = 0; block < launch.blocks; ++block) {
    const std::uint64_t times = w.group == 0 ? 1 : 1 + 2 * (block + block / w.group);
    for (std::uint64_t warp = 0; warp < plan.shape.warps(); ++warp) {
      std::uint64_t inside = (block * w.block_step + warp * w.warp_step) % w.span;
      for (std::uint32_t round = 0; round < launch.rounds; ++round) {
        visit(block, round, block * w.block_base + warp * w.warp_base + inside);
        inside = (inside + w.advance * times) % w.span;
      }
    }
  }
}

std::vector<LaunchShape> shapes(std::initializer_list<Level> levels, bool reads) {
  std::vector<LaunchShape> all;
  for (const Level level : levels) {
    for (const auto operation : {Operation::read, Operation::write, Operation::copy,
                                 Operation::triad, Operation::update}) {
      if ((operation == Operation::read) != reads) continue;
      for (const std::uint32_t width : {4U, 16U}) {
        for (const std::uint32_t block : {128U, 512U}) {
          for (const std::uint32_t flights : {1U, 4U}) {
            all.push_back({level, operation, width, block, 2, flights});
          }
        }
      }
    }
  }
  return all;
}

TEST(BandwidthLine, SumsWhatALoopSums) {
  const Line line;
  for (const std::uint64_t first : {0ULL, 1ULL, 12345ULL, 3ULL << 30U}) {
    for (const std::uint64_t count : {0U, 1U, 2U, 31U, 4096U}) {
      std::uint32_t sum = 0;
      for (std::uint64_t i = 0; i < count; ++i)
        sum += line.word(first + i);
      EXPECT_EQ(line.sum(first, count), sum);
    }
  }
  EXPECT_EQ(line.from(100).word(7), line.word(107));
}

TEST(BandwidthPlan, StaysInsideItsArraysInWholeChunks) {
  for (const bool reads : {true, false}) {
    for (const LaunchShape& shape : shapes({Level::shared, Level::l2, Level::dram}, reads)) {
      const auto plan = plan_for(shape, small(), small_pool);
      EXPECT_EQ(plan.array_bytes % shape.chunk(), 0U);
      walk_over(plan, {std::min(plan.lengths.brief.rounds, 3U), plan.lengths.brief.blocks},
                [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
                  ASSERT_EQ(byte % shape.chunk(), 0U);
                  ASSERT_LE(byte + shape.chunk(), plan.array_bytes);
                });
    }
  }
  for (const LaunchShape& shape : shapes({Level::l1}, true)) {
    const auto plan = plan_for(shape, small(), small_pool);
    walk_over(plan, {plan.lengths.brief.rounds, 1},
              [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
                ASSERT_LE(byte + shape.chunk(), plan.array_bytes);
              });
  }
}

TEST(BandwidthPlan, LetsNoTwoWritersTouchOneWordAndTouchesEachAsOftenAsItSays) {
  for (const LaunchShape& shape : shapes({Level::shared, Level::l2}, false)) {
    const auto plan = plan_for(shape, small(), small_pool);
    const bool shared = shape.level == Level::shared;
    for (const Length& launch : {plan.lengths.brief, plan.lengths.full}) {
      std::map<std::uint64_t, std::uint32_t> touched;
      walk_over(plan, {launch.rounds, shared ? 1 : launch.blocks},
                [&](std::uint64_t, std::uint32_t, std::uint64_t byte) { ++touched[byte]; });
      EXPECT_EQ(touched.size() * shape.chunk() / 4, plan.words(launch));
      for (const auto& [byte, times] : touched)
        ASSERT_EQ(times, plan.updates(launch));
    }
  }
}

TEST(BandwidthPlan, TouchesEachWordOfMemoryOnceFromTheFirstOn) {
  for (const bool reads : {true, false}) {
    for (const LaunchShape& shape : shapes({Level::dram}, reads)) {
      const auto plan = plan_for(shape, small(), small_pool);
      std::set<std::uint64_t> touched;
      std::size_t times = 0;
      const Length some{.rounds = plan.lengths.full.rounds, .blocks = 8};
      walk_over(plan, some, [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
        touched.insert(byte);
        ++times;
      });
      EXPECT_EQ(touched.size(), times);
      EXPECT_EQ(*touched.begin(), 0U);
      EXPECT_EQ((*touched.rbegin() + shape.chunk()) / 4, plan.words(some));
      EXPECT_EQ(plan.updates(some), 1U);
      EXPECT_LE(plan.words(plan.lengths.full) * 4, plan.array_bytes);
    }
  }
}

TEST(BandwidthPlan, ReadsL2InAnOrderOfItsOwnForEachBlockAndNeverAtOnePlace) {
  const LaunchShape shape{Level::l2, Operation::read, 16, 512, 2, 4};
  const auto plan = plan_for(shape, small(), small_pool);
  EXPECT_LE(plan.array_bytes, small().l2_bytes / 3);
  ASSERT_LE(plan.lengths.full.blocks, plan.pattern.group);
  std::map<std::uint32_t, std::set<std::uint64_t>> in_round;
  std::map<std::uint64_t, std::set<std::uint64_t>> of_block;
  walk_over(plan, {plan.pattern.group, plan.lengths.full.blocks},
            [&](std::uint64_t block, std::uint32_t round, std::uint64_t byte) {
              in_round[round].insert(byte);
              of_block[block].insert(byte);
            });
  for (const auto& [round, bytes] : in_round)
    ASSERT_EQ(bytes.size(), std::size_t{plan.lengths.full.blocks} * shape.warps()) << round;
  for (const auto& [block, bytes] : of_block)
    ASSERT_EQ(bytes.size() * shape.chunk(), plan.array_bytes) << block;
}

TEST(BandwidthPlan, TakesAboutAsLongAsItShould) {
  for (const LaunchShape& shape : shapes({Level::shared, Level::l1, Level::l2}, true)) {
    const auto plan = plan_for(shape, large(), large_pool);
    EXPECT_EQ(plan.lengths.full.rounds, 5 * plan.lengths.brief.rounds);
    const double cycles = static_cast<double>(plan.bytes(plan.lengths.full)) / 132 / 128;
    EXPECT_LT(cycles, 5e5);
  }
  const auto memory = plan_for({Level::dram, Operation::read, 16, 512, 2, 8}, large(), large_pool);
  EXPECT_EQ(memory.lengths.full.blocks, 4 * memory.lengths.brief.blocks);
  EXPECT_GT(memory.bytes(memory.lengths.brief), 4 * large().l2_bytes);
  const auto copy = plan_for({Level::dram, Operation::copy, 16, 512, 2, 4}, large(), large_pool);
  EXPECT_EQ(copy.bytes(copy.lengths.full), 2 * copy.array_bytes);
  EXPECT_GT(copy.bytes(copy.lengths.full), 1000 * mebi);
}

TEST(BandwidthPlan, IsSkippedWhereTheDeviceIsTooSmall) {
  EXPECT_THROW(
      (void)plan_for({Level::shared, Operation::triad, 16, 1024, 2, 4}, large(), large_pool),
      Skipped);
  EXPECT_THROW((void)plan_for({Level::l2, Operation::triad, 16, 512, 4, 4}, large(), large_pool),
               Skipped);
  EXPECT_THROW((void)plan_for({Level::dram, Operation::read, 16, 512, 2, 4}, large(), 128 * mebi),
               Skipped);
}

TEST(BandwidthSums, AreThoseOfAPlainLoopOverAllWords) {
  const Line line;
  for (const LaunchShape& shape : shapes({Level::shared, Level::l1, Level::l2}, true)) {
    const auto plan = plan_for(shape, small(), small_pool);
    const Length launch{.rounds = std::min(plan.lengths.full.rounds, 7U),
                        .blocks = plan.lengths.full.blocks};
    std::uint32_t sum = 0;
    walk_over(plan, launch, [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
      for (std::uint32_t i = 0; i < shape.chunk() / 4; ++i)
        sum += line.word(byte / 4 + i);
    });
    EXPECT_EQ(expected_sum(plan, launch, line), sum);
  }
  const auto plan = plan_for({Level::dram, Operation::read, 16, 128, 1, 4}, small(), small_pool);
  EXPECT_EQ(expected_sum(plan, plan.lengths.brief, line),
            line.sum(0, plan.words(plan.lengths.brief)));
}

TEST(BandwidthResults, AreLinesThatFollowFromTheOperation) {
  const Line line;
  const auto of = [&](Operation operation) {
    return plan_for({Level::shared, operation, 16, 128, 2, 4}, large(), large_pool);
  };
  const auto left_by = [&](const bandwidth::Plan& plan) {
    return written(plan.shape.operation, plan.array_bytes, plan.updates(plan.lengths.full), line,
                   9);
  };
  const auto copy = of(Operation::copy);
  EXPECT_EQ(left_by(copy).word(5), line.word(first_word(copy, 1) + 5));
  const auto triad = of(Operation::triad);
  EXPECT_EQ(left_by(triad).word(5),
            line.word(first_word(triad, 1) + 5) + 3 * line.word(first_word(triad, 2) + 5));
  const auto write = of(Operation::write);
  EXPECT_EQ(left_by(write).word(5), 5 * line.slope + 9);
  const auto update = of(Operation::update);
  EXPECT_EQ(left_by(update).word(5),
            line.word(5) + update.lengths.full.rounds / update.passes * update_step);
  EXPECT_NE(expected_shared_sum(write, write.lengths.full, line, 9),
            expected_shared_sum(write, write.lengths.full, line, 10));
}

TEST(BandwidthPrediction, CountsRequestsAndSectorsOfWholeWarps) {
  const auto plan = plan_for({Level::dram, Operation::triad, 16, 512, 2, 4}, large(), large_pool);
  const auto loads = predicted_loads(plan, plan.lengths.full);
  EXPECT_EQ(loads.requests * 512, 2 * plan.array_bytes);
  EXPECT_EQ(loads.sectors * 32, 2 * plan.array_bytes);
  EXPECT_EQ(predicted_store_sectors(plan, plan.lengths.full) * 32, plan.array_bytes);
  EXPECT_EQ(plan.bytes(plan.lengths.full), 3 * plan.array_bytes);
}

Counted stored(double l2, double dram) {
  return {.whole = {{"l2_store_sectors", l2}, {"dram_write_bytes", dram}},
          .overhead = {{"l2_store_sectors", 0}, {"dram_write_bytes", 0}}};
}

TEST(BandwidthStoreLevel, WantsEverySectorInL2AndInMemoryWhatL2CannotKeep) {
  constexpr std::uint64_t sectors = 10'000'000;  // 320 MB
  constexpr std::uint64_t l2 = 60'000'000;
  const auto verdict = [&](ServedBy claimed, const Counted& counted) {
    return store_level_gate({.claimed = claimed, .sectors = sectors, .l2_bytes = l2}, counted)
        .verdict;
  };
  EXPECT_EQ(verdict(ServedBy::dram, stored(1e7, 320e6)), Verdict::passed);
  EXPECT_EQ(verdict(ServedBy::dram, stored(1e7, 270e6)), Verdict::passed);
  EXPECT_EQ(verdict(ServedBy::dram, stored(1e7, 200e6)), Verdict::failed);
  EXPECT_EQ(verdict(ServedBy::dram, stored(0.9e7, 320e6)), Verdict::failed);
  EXPECT_EQ(verdict(ServedBy::l2, stored(1e7, 1e6)), Verdict::passed);
  EXPECT_EQ(verdict(ServedBy::l2, stored(1e7, 30e6)), Verdict::failed);
  EXPECT_EQ(verdict(ServedBy::l2, {}), Verdict::unverified);
}

TEST(BandwidthGates, AreAsStrictAsTheStricterOfTwo) {
  const Gate passed{"level", Verdict::passed, "a"};
  const Gate failed{"level", Verdict::failed, "b"};
  const Gate unverified{"level", Verdict::unverified, "c"};
  EXPECT_EQ(both(passed, failed).verdict, Verdict::failed);
  EXPECT_EQ(both(unverified, passed).verdict, Verdict::unverified);
  EXPECT_EQ(both(unverified, failed).verdict, Verdict::failed);
  EXPECT_EQ(both(passed, passed).detail, "a; a");
}

TEST(BandwidthDeclaration, LeavesOutWhatNoDeviceCanDo) {
  const auto* const known = find_benchmark("bandwidth");
  ASSERT_NE(known, nullptr);
  const auto excluded = [&](const Params& changed, Backend backend) {
    Params params{{"level", "dram"},     {"operation", "read"},  {"width", "16"},
                  {"block_size", "512"}, {"blocks_per_sm", "2"}, {"in_flight", "4"}};
    for (const auto& [axis, value] : changed)
      params[axis] = value;
    return known->benchmark.excludes(params, backend).has_value();
  };
  EXPECT_FALSE(excluded({}, Backend::cuda));
  EXPECT_FALSE(excluded({}, Backend::host));
  EXPECT_TRUE(excluded({{"level", "shared"}}, Backend::host));
  EXPECT_TRUE(excluded({{"width", "8"}}, Backend::host));
  EXPECT_TRUE(excluded({{"in_flight", "8"}}, Backend::host));
  EXPECT_FALSE(excluded({{"level", "l3"}}, Backend::host));
  EXPECT_TRUE(excluded({{"level", "l3"}}, Backend::cuda));
  EXPECT_TRUE(excluded({{"level", "l1"}, {"operation", "write"}}, Backend::cuda));
  EXPECT_TRUE(excluded({{"blocks_per_sm", "8"}}, Backend::cuda));
  EXPECT_TRUE(excluded({{"level", "shared"}, {"in_flight", "8"}}, Backend::cuda));
  EXPECT_TRUE(excluded({{"block_size", "1024"}, {"in_flight", "16"}}, Backend::cuda));
  EXPECT_FALSE(excluded({{"blocks_per_sm", "4"}}, Backend::cuda));
}

}  // namespace
}  // namespace strata
