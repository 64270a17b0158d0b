#include "micro/bandwidth/bandwidth.hpp"

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
      const auto placed = describe(plan, large()).placement.value();
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
  EXPECT_FALSE(describe(waves, large()).placement.has_value());
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

TEST(BandwidthPlan, TakesAboutAsLongAsItShould) {
  for (const LaunchShape& shape : shapes({Level::shared, Level::l1, Level::l2}, true)) {
    const auto plan = plan_for(shape, large());
    EXPECT_EQ(plan.lengths.full.rounds, 5 * plan.lengths.brief.rounds);
    const double cycles = static_cast<double>(plan.bytes(plan.lengths.full)) / 132 / 128;
    EXPECT_LT(cycles, shape.level == Level::shared ? 4e6 : 2e6);
  }
  const auto memory = plan_for({Level::dram, Operation::read, 16, 512, 2, 8}, large());
  EXPECT_EQ(memory.lengths.full.rounds, 4 * memory.lengths.brief.rounds);
  EXPECT_GT(memory.bytes(memory.lengths.brief), 4 * large().l2_bytes);
  const auto copy = plan_for({Level::dram, Operation::copy, 16, 512, 2, 4}, large());
  EXPECT_EQ(copy.bytes(copy.lengths.full), 2 * copy.array_bytes);
  EXPECT_GT(copy.bytes(copy.lengths.full), 1000 * mebi);
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
    return describe(plan_for({level, Operation::read, 16, 512, 2, 4}, large()), large())
        .slopes.front()
        .start;
  };
  EXPECT_EQ(start(Level::dram), Start::evicted);
  EXPECT_EQ(start(Level::l2), Start::in_l2);
  EXPECT_EQ(start(Level::l1), Start::as_left);
}

TEST(BandwidthPlan, HoldsWhatIsUnderWayInRegisters) {
  EXPECT_EQ(words_held(Operation::read, 16, 4), 16U);
  EXPECT_EQ(words_held(Operation::write, 16, 4), 16U);  // what it writes
  EXPECT_EQ(words_held(Operation::triad, 8, 4), 16U);
}

TEST(BandwidthPlan, CountsAByteThatIsUpdatedTwice) {
  const auto update = plan_for({Level::dram, Operation::update, 16, 512, 2, 4}, large());
  EXPECT_EQ(update.bytes(update.lengths.full), 2 * update.array_bytes);
  EXPECT_EQ(update.lengths.full.work * large().sms, 2.0 * static_cast<double>(update.array_bytes));
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
  const auto counts = describe(plan, large()).counts.value();
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

TEST(BandwidthGates, AreAsStrictAsTheStricterOfTwo) {
  const Gate passed{"level", Verdict::passed, "a"};
  const Gate failed{"level", Verdict::failed, "b"};
  const Gate unverified{"level", Verdict::unverified, "c"};
  EXPECT_EQ(both(passed, failed).verdict, Verdict::failed);
  EXPECT_EQ(both(unverified, passed).verdict, Verdict::unverified);
  EXPECT_EQ(both(unverified, failed).verdict, Verdict::failed);
  EXPECT_EQ(both(passed, passed).detail, "a; a");
}

/// A byte of each of 132 SMs takes 1/100 of a cycle by one timer and 1/101 by the other, at 2 GHz.
Sample seen() {
  Seen one{.inside = {.cycles = 0.01, .slowest = 0.01, .hertz = 2e9}, .outside = 1 / 101.0};
  one.seconds = one.outside / one.inside.hertz;
  one.full_seconds = 3e-4;
  return {.slopes = {one}, .numbers = {}};
}

TEST(BandwidthRows, AreBytesOfTheChipAndOfAnSm) {
  const auto plan = plan_for({Level::dram, Operation::copy, 16, 512, 2, 4}, large());
  const RowsSeen rows = rows_of(describe(plan, large()), cuda_timers, seen());
  const double all = 101.0 * 2e9 * 132;
  const std::map<std::string, std::pair<double, std::string>> expected{
      {"bandwidth by event_slope", {all, "B/s"}},
      {"bandwidth_per_sm by clock64_slope", {100, "B/cycle"}},
      {"bandwidth_per_sm by event_slope", {101, "B/cycle"}},
      {"share_of_limit by event_slope", {all / 4.8e12, "1"}},
      {"grid_time by event", {3e-4, "s"}},
      {"core_clock by clock64_over_globaltimer", {2e9, "Hz"}},
      {"bytes_in_flight_per_sm by launch_shape", {2.0 * 512 * 4 * 16, "B"}}};
  ASSERT_EQ(rows.size(), expected.size());
  for (const auto& [name, row] : expected) {
    EXPECT_NEAR(rows.at(name).value, row.first, 1e-9 * row.first) << name;
    EXPECT_EQ(rows.at(name).unit, row.second) << name;
  }
  EXPECT_EQ(rows.at("bytes_in_flight_per_sm by launch_shape").provenance, Provenance::modelled);
}

TEST(BandwidthRows, ShareOfL1IsOfACycle) {
  const auto plan = plan_for({Level::l1, Operation::read, 16, 512, 2, 4}, large());
  const auto rows = rows_of(describe(plan, large()), cuda_timers, seen());
  EXPECT_NEAR(rows.at("share_of_limit by clock64_slope").value, 100.0 / 128, 1e-12);
  const auto of_l2 = plan_for({Level::l2, Operation::read, 16, 512, 2, 4}, large());
  EXPECT_FALSE(rows_of(describe(of_l2, large()), cuda_timers, seen())
                   .contains("share_of_limit by event_slope"));
}

TEST(BandwidthRows, AreOfCoresOnAHost) {
  const auto rows = rows_of(bandwidth_of(2, "bandwidth"), host_timers, seen());
  EXPECT_NEAR(rows.at("bandwidth by monotonic_slope").value, 101.0 * 2e9 * 2, 1);
  EXPECT_EQ(rows.at("bandwidth_per_sm by tsc_slope").unit, "B/cycle");
  EXPECT_NEAR(rows.at("bandwidth_per_sm by tsc_slope").value, 100, 1e-9);
  EXPECT_EQ(rows.at("grid_time by monotonic").unit, "s");
}

TEST(BandwidthGates, ComparesTimersThatShareNothing) {
  const auto plan = plan_for({Level::dram, Operation::read, 16, 512, 2, 4}, large());
  const Experiment experiment = describe(plan, large());
  EXPECT_EQ(verdict_of("timer", experiment, {seen()}), Verdict::passed);
  Sample apart = seen();
  apart.slopes[0].outside *= 1.05;
  EXPECT_EQ(verdict_of("timer", experiment, {apart}), Verdict::failed);
  EXPECT_EQ(verdict_of("clock", experiment, {seen()}), Verdict::passed);
}

TEST(BandwidthCounts, PredictWhatTheLongLaunchMoves) {
  const auto copy = plan_for({Level::dram, Operation::copy, 16, 512, 2, 4}, large());
  const auto counts = describe(copy, large()).counts.value();
  EXPECT_EQ(counts.length.blocks, copy.lengths.full.blocks);
  EXPECT_EQ(counts.none.rounds, 0U);
  EXPECT_EQ(counts.none.blocks, copy.lengths.full.blocks);
  EXPECT_EQ(counts.loads->sectors * 32, copy.array_bytes);
  EXPECT_EQ(counts.stores->sectors * 32, copy.array_bytes);
  EXPECT_EQ(counts.served_by, ServedBy::dram);
  const auto shared = plan_for({Level::shared, Operation::triad, 16, 128, 2, 4}, large());
  const auto expected = describe(shared, large()).counts->expected;
  ASSERT_EQ(expected.size(), 4U);
  const double loads = 2.0 * shared.lengths.full.rounds * shared.lengths.full.blocks * 4 * 4;
  EXPECT_EQ(expected[0].predicted, loads);
  EXPECT_EQ(expected[1].predicted, 4 * loads);
  EXPECT_EQ(expected[2].predicted, loads / 2);
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
  EXPECT_FALSE(excluded({{"operation", "write"}, {"in_flight", "2"}}, Backend::cuda));
  EXPECT_FALSE(excluded({{"block_size", "256"}, {"operation", "write"}, {"in_flight", "16"}},
                        Backend::cuda));
  EXPECT_TRUE(excluded({{"operation", "triad"}, {"in_flight", "2"}}, Backend::cuda));
  EXPECT_TRUE(excluded({{"block_size", "1024"}, {"in_flight", "16"}}, Backend::cuda));
  EXPECT_FALSE(excluded({{"blocks_per_sm", "4"}}, Backend::cuda));
}

}  // namespace
}  // namespace strata::bandwidth
