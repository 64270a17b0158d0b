#include "micro/bandwidth/bandwidth.hpp"

#include "example_gpu.hpp"
#include "harness/base/error.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace strata::bandwidth {
namespace {

constexpr std::uint64_t mebi = 1U << 20U;

GpuFacts large() {
  GpuFacts gpu = example_gpu();
  gpu.memory_bytes = 8192 * mebi;
  return gpu;
}
/// One on which every word can be walked over in a test.
GpuFacts small() {
  GpuFacts gpu = example_gpu(3);
  gpu.l2_bytes = 4 * mebi;
  gpu.memory_bytes = 1024 * mebi;
  return gpu;
}

/// Calls visit(block, warp, first byte) for each chunk of an array that a launch touches, by the
/// words of the header and by nothing else.
template <class Visit>
void walk_over(const bandwidth::Plan& plan, const Length& launch, Visit&& visit) {
  const AddressPattern& w = plan.pattern;
  for (std::uint64_t block = 0; block < launch.blocks; ++block) {
    for (std::uint64_t warp = 0; warp < plan.shape.warps(); ++warp) {
      std::uint64_t inside = warp * w.warp_step % w.span;
      for (std::uint32_t round = 0; round < launch.rounds; ++round) {
        visit(block, round, block % w.pieces * w.block_base + warp * w.warp_base + inside);
        inside = (inside + w.advance) % w.span;
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
            if (level == Level::dram)
              all.push_back({level, operation, width, block, 2, flights, 64});
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
      const auto plan = plan_for(shape, small());
      EXPECT_EQ(plan.array_bytes % shape.chunk(), 0U);
      walk_over(plan, {std::min(plan.lengths.brief.rounds, 3U), plan.lengths.brief.blocks},
                [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
                  ASSERT_EQ(byte % shape.chunk(), 0U);
                  ASSERT_LE(byte + shape.chunk(), plan.array_bytes);
                });
    }
  }
  for (const LaunchShape& shape : shapes({Level::l1}, true)) {
    const auto plan = plan_for(shape, small());
    walk_over(plan, {plan.lengths.brief.rounds, 1},
              [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
                ASSERT_LE(byte + shape.chunk(), plan.array_bytes);
              });
  }
}

TEST(BandwidthPlan, LetsNoTwoWritersTouchOneWordAndTouchesEachAsOftenAsItSays) {
  for (const LaunchShape& shape : shapes({Level::shared, Level::l2}, false)) {
    const auto plan = plan_for(shape, small());
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
      const auto plan = plan_for(shape, small());
      std::set<std::uint64_t> touched;
      std::size_t times = 0;
      const bool resident = shape.waves == 1;
      const Length some{.rounds = resident ? 8 : plan.passes,
                        .blocks = resident ? plan.lengths.brief.blocks : 8};
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

TEST(BandwidthPlan, StartsNoBlockOfMemoryLaterThanTheFirst) {
  for (const std::uint32_t flights : {1U, 4U, 16U}) {
    for (const std::uint32_t blocks_per_sm : {1U, 2U, 4U}) {
      const auto plan =
          plan_for({Level::dram, Operation::read, 16, 256, blocks_per_sm, flights}, large());
      for (const Length& launch : {plan.lengths.brief, plan.lengths.full})
        EXPECT_EQ(launch.blocks, large().sms * blocks_per_sm);
      EXPECT_GE(plan.lengths.brief.rounds, 7U) << "the launch would be as short as its start";
      EXPECT_EQ(plan.bytes(plan.lengths.full), plan.array_bytes);
      const auto placed = describe_plan(plan, large()).placement.value();
      EXPECT_EQ(placed.per_core, static_cast<int>(blocks_per_sm * plan.shape.warps()));
    }
  }
}

TEST(BandwidthPlan, SharesTheSameWorkAmongWavesOfBlocks) {
  const auto waves_of = [](Level level, Operation operation, std::uint32_t waves) {
    return plan_for({level, operation, 16, 512, 4, 2, waves}, large());
  };
  const auto once = waves_of(Level::l2, Operation::write, 1);
  const auto waves = waves_of(Level::l2, Operation::write, 32);
  EXPECT_EQ(waves.array_bytes, once.array_bytes);
  EXPECT_EQ(waves.pattern.pieces, once.lengths.full.blocks);
  EXPECT_EQ(waves.lengths.full.blocks, 32 * once.lengths.full.blocks);
  EXPECT_EQ(waves.words(waves.lengths.brief), once.words(once.lengths.full));
  EXPECT_NEAR(waves.lengths.full.work / once.lengths.full.work, 1, 0.1);
  EXPECT_FALSE(describe_plan(waves, large()).placement.has_value());
  const auto pieces = waves_of(Level::dram, Operation::read, 64);
  EXPECT_EQ(pieces.pattern.block_base, pieces.passes * std::uint64_t{pieces.shape.tile()});
  EXPECT_EQ(pieces.lengths.full.blocks, 4 * pieces.lengths.brief.blocks);
  EXPECT_GE(pieces.lengths.full.blocks, 60 * large().sms * 4);
}

TEST(BandwidthPlan, LetsNoTwoBlocksReadTheSameOfL2) {
  for (const LaunchShape& shape : shapes({Level::l2}, true)) {
    const auto plan = plan_for(shape, small());
    EXPECT_LE(plan.array_bytes, small().l2_bytes / 2);
    std::map<std::uint64_t, std::set<std::uint64_t>> readers;
    walk_over(plan, {plan.lengths.brief.rounds, plan.lengths.brief.blocks},
              [&](std::uint64_t block, std::uint32_t, std::uint64_t byte) {
                readers[byte].insert(block);
              });
    EXPECT_EQ(readers.size() * shape.chunk(), plan.array_bytes);
    for (const auto& [byte, blocks] : readers)
      ASSERT_EQ(blocks.size(), 1U) << byte;
  }
}

TEST(BandwidthPlan, LetsBlocksShareAPieceOnlyWhereL2HasRoomForNoMore) {
  const LaunchShape shape{Level::l2, Operation::read, 16, 512, 2, 4};
  GpuFacts poor = small();
  poor.l2_bytes = 4 * std::uint64_t{shape.tile()};
  const auto plan = plan_for(shape, poor);
  EXPECT_EQ(plan.array_bytes, 2 * shape.tile());
  EXPECT_EQ(plan.lengths.full.blocks, 6U);
}

TEST(BandwidthPlan, LaysWhatLiesInL1IntoHalfOfIt) {
  for (const std::uint64_t kibi : {228U, 64U}) {
    GpuFacts gpu = large();
    gpu.shared_per_sm = kibi * 1024;
    gpu.shared_per_block = gpu.shared_per_sm - 1024;
    const auto plan = plan_for({Level::l1, Operation::read, 4, 128, 2, 1}, gpu);
    EXPECT_LE(plan.array_bytes, std::min<std::uint64_t>(kibi / 2, 64) * 1024);
    EXPECT_GE(plan.array_bytes, kibi * 1024 / 4);
  }
}

TEST(BandwidthPlan, WritesManyTimesWhatL2KeepsBackAndReadsFromMemory) {
  GpuFacts gpu = large();
  gpu.l2_bytes = 128 * mebi;
  const LaunchShape write{Level::dram, Operation::write, 16, 512, 2, 4};
  EXPECT_GE(plan_for(write, gpu).array_bytes, 15 * gpu.l2_bytes);
  gpu.l2_bytes *= 2;
  EXPECT_THROW((void)plan_for(write, gpu), Skipped) << "more than there is room for";
  const auto start = [](Level level) {
    return describe_plan(plan_for({level, Operation::read, 16, 512, 2, 4}, large()), large())
        .slopes.front()
        .start;
  };
  EXPECT_EQ(start(Level::dram), Start::evicted);
  EXPECT_EQ(start(Level::l2), Start::in_l2);
  EXPECT_EQ(start(Level::l1), Start::as_left);
}

TEST(BandwidthPlan, IsSkippedWhereTheDeviceIsTooSmall) {
  EXPECT_THROW((void)plan_for({Level::shared, Operation::triad, 16, 1024, 2, 4}, large()), Skipped);
  EXPECT_THROW((void)plan_for({Level::l2, Operation::triad, 16, 512, 4, 4}, large()), Skipped);
  GpuFacts poor = large();
  poor.memory_bytes = 512 * mebi;
  EXPECT_THROW((void)plan_for({Level::dram, Operation::read, 16, 512, 2, 4}, poor), Skipped);
}

TEST(BandwidthSums, AreThoseOfAPlainLoopOverAllWords) {
  const Line line;
  for (const LaunchShape& shape : shapes({Level::shared, Level::l1, Level::l2}, true)) {
    const auto plan = plan_for(shape, small());
    const Length launch{.rounds = std::min(plan.lengths.full.rounds, 7U),
                        .blocks = plan.lengths.full.blocks};
    std::uint32_t sum = 0;
    walk_over(plan, launch, [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
      for (std::uint32_t i = 0; i < shape.chunk() / 4; ++i)
        sum += line.word(byte / 4 + i);
    });
    EXPECT_EQ(expected_sum(plan, launch), sum);
  }
  for (const LaunchShape& shape : shapes({Level::dram}, true)) {
    const auto plan = plan_for(shape, small());
    const Length launch{.rounds = shape.waves == 1 ? 3 : plan.passes,
                        .blocks = plan.lengths.brief.blocks};
    std::uint32_t sum = 0;
    walk_over(plan, launch, [&](std::uint64_t, std::uint32_t, std::uint64_t byte) {
      sum += line.sum(byte / 4, shape.chunk() / 4);
    });
    EXPECT_EQ(expected_sum(plan, launch), sum);
  }
}

TEST(BandwidthResults, AreLinesThatFollowFromTheOperation) {
  const Line line;
  const auto of = [&](Operation operation) {
    return plan_for({Level::shared, operation, 16, 128, 2, 4}, large());
  };
  const auto left_by = [&](const bandwidth::Plan& plan) {
    return written(plan, plan.lengths.full, 9);
  };
  const auto copy = of(Operation::copy);
  EXPECT_EQ(left_by(copy).word(5), line.word(copy.array_bytes / 4 + 5));
  const auto triad = of(Operation::triad);
  EXPECT_EQ(left_by(triad).word(5),
            line.word(triad.array_bytes / 4 + 5) + 3 * line.word(2 * triad.array_bytes / 4 + 5));
  const auto write = of(Operation::write);
  EXPECT_EQ(left_by(write).word(5), 5 * line.slope + 9);
  const auto update = of(Operation::update);
  EXPECT_EQ(left_by(update).word(5),
            line.word(5) + update.lengths.full.rounds / update.passes * update_step);
  EXPECT_NE(expected_shared_sum(write, write.lengths.full, 9),
            expected_shared_sum(write, write.lengths.full, 10));
}

TEST(BandwidthPrediction, CountsRequestsAndSectorsOfWholeWarps) {
  const auto plan = plan_for({Level::dram, Operation::triad, 16, 512, 2, 4}, large());
  const auto counts = describe_plan(plan, large()).counts.value();
  EXPECT_EQ(counts.warps_per_sm, 32);
  EXPECT_EQ(counts.loads->requests * 512, 2 * plan.array_bytes);
  EXPECT_EQ(counts.loads->sectors * 32, 2 * plan.array_bytes);
  EXPECT_EQ(counts.stores->sectors * 32, plan.array_bytes);
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

}  // namespace
}  // namespace strata::bandwidth
