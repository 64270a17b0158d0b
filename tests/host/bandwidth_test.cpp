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

Limits large() {
  return {.sms = 132,
          .l1_bytes = 200 << 10U,
          .l2_bytes = 60 * mebi,
          .pool_bytes = 2048 * mebi,
          .shared_of_sm = 233472,
          .shared_of_block = 232448,
          .dram_bytes_per_second = 4.8e12,
          .core_hertz = 1.98e9};
}
/// One on which every word can be walked over in a test.
Limits small() {
  Limits limits = large();
  limits.sms = 3;
  limits.l2_bytes = 4 * mebi;
  limits.pool_bytes = 256 * mebi;
  return limits;
}

/// Calls visit(block, warp, first byte) for each chunk of an array that a launch touches, by the
/// words of the header and by nothing else.
template <class Visit>
void walk_over(const bandwidth::Plan& plan, const Launch& launch, Visit&& visit) {
  const Walk& w = plan.walk;
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

std::vector<Shape> shapes(std::initializer_list<Level> levels, bool reads) {
  std::vector<Shape> all;
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
    for (const Shape& shape : shapes({Level::shared, Level::l2, Level::dram}, reads)) {
      const auto plan = plan_for(shape, small());
      EXPECT_EQ(plan.array_bytes % shape.chunk(), 0U);
      walk_over(plan, {plan.brief.blocks, std::min(plan.brief.rounds, 3U)},
                [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
                  ASSERT_EQ(byte % shape.chunk(), 0U);
                  ASSERT_LE(byte + shape.chunk(), plan.array_bytes);
                });
    }
  }
  for (const Shape& shape : shapes({Level::l1}, true)) {
    const auto plan = plan_for(shape, small());
    walk_over(plan, {1, plan.brief.rounds}, [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
      ASSERT_LE(byte + shape.chunk(), plan.array_bytes);
    });
  }
}

TEST(BandwidthPlan, LetsNoTwoWritersTouchOneWordAndTouchesEachAsOftenAsItSays) {
  for (const Shape& shape : shapes({Level::shared, Level::l2}, false)) {
    const auto plan = plan_for(shape, small());
    const bool shared = shape.level == Level::shared;
    for (const Launch& launch : {plan.brief, plan.full}) {
      std::map<std::uint64_t, std::uint32_t> touched;
      walk_over(plan, {shared ? 1 : launch.blocks, launch.rounds},
                [&](std::uint64_t, std::uint32_t, std::uint64_t byte) { ++touched[byte]; });
      EXPECT_EQ(touched.size() * shape.chunk() / 4, plan.words(launch));
      for (const auto& [byte, times] : touched)
        ASSERT_EQ(times, plan.updates(launch));
    }
  }
}

TEST(BandwidthPlan, TouchesEachWordOfMemoryOnceFromTheFirstOn) {
  for (const bool reads : {true, false}) {
    for (const Shape& shape : shapes({Level::dram}, reads)) {
      const auto plan = plan_for(shape, small());
      std::set<std::uint64_t> touched;
      std::size_t times = 0;
      const Launch some{.blocks = 8, .rounds = plan.full.rounds};
      walk_over(plan, some, [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
        touched.insert(byte);
        ++times;
      });
      EXPECT_EQ(touched.size(), times);
      EXPECT_EQ(*touched.begin(), 0U);
      EXPECT_EQ((*touched.rbegin() + shape.chunk()) / 4, plan.words(some));
      EXPECT_EQ(plan.updates(some), 1U);
      EXPECT_LE(plan.words(plan.full) * 4, plan.array_bytes);
    }
  }
}

TEST(BandwidthPlan, ReadsL2InAnOrderOfItsOwnForEachBlockAndNeverAtOnePlace) {
  const Shape shape{Level::l2, Operation::read, 16, 512, 2, 4};
  const auto plan = plan_for(shape, small());
  EXPECT_LE(plan.array_bytes, small().l2_bytes / 3);
  ASSERT_LE(plan.full.blocks, plan.walk.group);
  std::map<std::uint32_t, std::set<std::uint64_t>> in_round;
  std::map<std::uint64_t, std::set<std::uint64_t>> of_block;
  walk_over(plan, {plan.full.blocks, plan.walk.group},
            [&](std::uint64_t block, std::uint32_t round, std::uint64_t byte) {
              in_round[round].insert(byte);
              of_block[block].insert(byte);
            });
  for (const auto& [round, bytes] : in_round)
    ASSERT_EQ(bytes.size(), std::size_t{plan.full.blocks} * shape.warps()) << round;
  for (const auto& [block, bytes] : of_block)
    ASSERT_EQ(bytes.size() * shape.chunk(), plan.array_bytes) << block;
}

TEST(BandwidthPlan, TakesAboutAsLongAsItShould) {
  for (const Shape& shape : shapes({Level::shared, Level::l1, Level::l2}, true)) {
    const auto plan = plan_for(shape, large());
    EXPECT_EQ(plan.full.rounds, 5 * plan.brief.rounds);
    const double cycles = static_cast<double>(plan.bytes(plan.full)) / 132 / 128;
    EXPECT_LT(cycles, 5e5);
  }
  const auto memory = plan_for({Level::dram, Operation::read, 16, 512, 2, 8}, large());
  EXPECT_EQ(memory.full.blocks, 4 * memory.brief.blocks);
  EXPECT_GT(memory.bytes(memory.brief), 4 * large().l2_bytes);
  const auto copy = plan_for({Level::dram, Operation::copy, 16, 512, 2, 4}, large());
  EXPECT_EQ(copy.bytes(copy.full), 2 * copy.array_bytes);
  EXPECT_GT(copy.bytes(copy.full), 1000 * mebi);
}

TEST(BandwidthPlan, IsSkippedWhereTheDeviceIsTooSmall) {
  EXPECT_THROW((void)plan_for({Level::shared, Operation::triad, 16, 1024, 2, 4}, large()), Skipped);
  EXPECT_THROW((void)plan_for({Level::l2, Operation::triad, 16, 512, 4, 4}, large()), Skipped);
  Limits limits = large();
  limits.pool_bytes = 128 * mebi;
  EXPECT_THROW((void)plan_for({Level::dram, Operation::read, 16, 512, 2, 4}, limits), Skipped);
}

TEST(BandwidthSums, AreThoseOfAPlainLoopOverAllWords) {
  const Line line;
  for (const Shape& shape : shapes({Level::shared, Level::l1, Level::l2}, true)) {
    const auto plan = plan_for(shape, small());
    const Launch launch{.blocks = plan.full.blocks, .rounds = std::min(plan.full.rounds, 7U)};
    std::uint32_t sum = 0;
    walk_over(plan, launch, [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
      for (std::uint32_t i = 0; i < shape.chunk() / 4; ++i)
        sum += line.word(byte / 4 + i);
    });
    EXPECT_EQ(expected_sum(plan, launch, line), sum);
  }
  const auto plan = plan_for({Level::dram, Operation::read, 16, 128, 1, 4}, small());
  EXPECT_EQ(expected_sum(plan, plan.brief, line), line.sum(0, plan.words(plan.brief)));
}

TEST(BandwidthResults, AreLinesThatFollowFromTheOperation) {
  const Line line;
  const auto of = [&](Operation operation) {
    return plan_for({Level::shared, operation, 16, 128, 2, 4}, large());
  };
  const auto copy = of(Operation::copy);
  EXPECT_EQ(written(copy, copy.full, line, 9).word(5), line.word(first_word(copy, 1) + 5));
  const auto triad = of(Operation::triad);
  EXPECT_EQ(written(triad, triad.full, line, 9).word(5),
            line.word(first_word(triad, 1) + 5) + 3 * line.word(first_word(triad, 2) + 5));
  const auto write = of(Operation::write);
  EXPECT_EQ(written(write, write.full, line, 9).word(5), 5 * line.slope + 9);
  const auto update = of(Operation::update);
  EXPECT_EQ(written(update, update.full, line, 9).word(5),
            line.word(5) + update.full.rounds / update.passes * update_step);
  EXPECT_NE(expected_shared_sum(write, write.full, line, 9),
            expected_shared_sum(write, write.full, line, 10));
}

TEST(BandwidthPrediction, CountsRequestsAndSectorsOfWholeWarps) {
  const auto plan = plan_for({Level::dram, Operation::triad, 16, 512, 2, 4}, large());
  const auto loads = predicted_loads(plan, plan.full);
  EXPECT_EQ(loads.requests * 512, 2 * plan.array_bytes);
  EXPECT_EQ(loads.sectors * 32, 2 * plan.array_bytes);
  EXPECT_EQ(predicted_store_sectors(plan, plan.full) * 32, plan.array_bytes);
  EXPECT_EQ(plan.bytes(plan.full), 3 * plan.array_bytes);
}

Counted stored(double l2, double dram) {
  return {.whole = {{"l2_store_sectors", l2}, {"dram_write_bytes", dram}},
          .overhead = {{"l2_store_sectors", 0}, {"dram_write_bytes", 0}}};
}

TEST(BandwidthStoreLevel, WantsEverySectorInL2AndInMemoryWhatL2CannotKeep) {
  constexpr std::uint64_t sectors = 10'000'000;  // 320 MB
  constexpr std::uint64_t l2 = 60'000'000;
  const auto verdict = [&](ServedBy claimed, const Counted& counted) {
    return store_level_gate(claimed, sectors, l2, counted).verdict;
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
