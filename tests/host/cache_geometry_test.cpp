#include "micro/latency/cache_geometry.hpp"

#include "example_gpu.hpp"
#include "message_of.hpp"
#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace strata::cache_geometry {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = 1024 * kibi;

/// A cache as the walks see it.
struct Model {
  std::uint64_t bytes = 0;
  std::uint64_t line = 128;
  double hit = 32;
  double miss = 280;
  bool random = false;  ///< drops lines at random: misses grow slowly beyond the size

  [[nodiscard]] double operator()(std::uint64_t footprint, std::uint64_t stride,
                                  unsigned lap) const {
    const auto slots = static_cast<double>(footprint / stride);
    const double lines =
        slots * static_cast<double>(std::max(stride, line)) / static_cast<double>(line);
    const double room = static_cast<double>(bytes / line);
    // Longer strides than a line: a slot a line, and the lines between are not touched.
    const double touched = stride > line ? slots : lines;
    double share = 0;
    if (touched > room) {
      share = random ? std::min(1.0, 3 * (touched - room) / room) : 1.0;
      share = std::max(share, (touched - room) / touched);
      if (stride < line) share *= static_cast<double>(stride) / static_cast<double>(line);
    }
    // A latency of its own at each footprint, and a little noise in each repetition.
    const double own = 1e-4 * static_cast<double>((footprint / 128 * 7 + lap * 3) % 11);
    return hit + share * (miss - hit) + own;
  }
};

Search in_l1() {
  return {.least = 4 * kibi, .most = 512 * kibi, .granule = 128, .stride = 128};
}

TEST(FindSize, IsExactToTheLineForEveryRuleOfReplacement) {
  for (const bool random : {false, true}) {
    for (const std::uint64_t bytes :
         {27 * kibi + 128, 48 * kibi, 119 * kibi + 640, 216 * kibi, 256 * kibi}) {
      const auto found = find_size(in_l1(), Model{.bytes = bytes, .random = random}, 7);
      EXPECT_EQ(found.bytes, bytes) << random;
      EXPECT_EQ(found.least, bytes);
      EXPECT_EQ(found.most, bytes + 128);
      EXPECT_GE(found.change.confidence, 0.99);
      EXPECT_EQ(found.estimates, std::vector<double>(7, static_cast<double>(bytes)));
      EXPECT_NEAR(found.hit, 32, 0.01);
      EXPECT_LT(found.walks, 500U);
    }
  }
}

TEST(FindSize, FindsAnL2WithinAStep) {
  const std::uint64_t reported = 60 * mebi;
  const Search search{.least = mebi,
                      .most = 4 * reported,
                      .granule = reported / 128,
                      .stride = 128,
                      .whole_laps = false};
  const auto found =
      find_size(search, Model{.bytes = 29 * mebi, .hit = 281, .miss = 660, .random = true}, 7);
  EXPECT_LE(found.bytes, 29 * mebi + search.granule);
  EXPECT_GE(found.bytes, 29 * mebi - search.granule);
  EXPECT_EQ(found.most, found.bytes + search.granule);
}

TEST(FindSize, FindsTheFirstOfTwoCaches) {
  const Model first{.bytes = 2 * kibi, .line = 64, .hit = 28, .miss = 98};
  const Model second{.bytes = 12 * kibi, .line = 64, .hit = 0, .miss = 300};
  const Search search{.least = 256, .most = 16 * kibi, .granule = 64, .stride = 64};
  const auto found = find_size(
      search,
      [&](std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
        return first(footprint, stride, lap) + second(footprint, stride, lap);
      },
      7);
  EXPECT_EQ(found.bytes, 2 * kibi);
}

TEST(FindSize, SaysThatThereIsNoChange) {
  const Search search{.least = 4 * kibi, .most = 64 * kibi, .granule = 64, .stride = 64};
  const auto reason =
      message_of<Skipped>([&] { return find_size(search, Model{.bytes = mebi, .hit = 98}, 7); });
  EXPECT_THAT(reason, HasSubstr("no change"));
  EXPECT_THAT(reason, HasSubstr("between 4096 and 65536 bytes"));
}

TEST(FindSize, TakesASmallRiseForNoOtherLevel) {
  EXPECT_THROW((void)find_size(in_l1(), Model{.bytes = 64 * kibi, .hit = 280, .miss = 290}, 7),
               Skipped);
}

TEST(FindSize, IsNotMisledByDisturbedWalks) {
  int calls = 0;
  const Model model{.bytes = 216 * kibi, .random = true};
  const auto found = find_size(
      in_l1(),
      [&](std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
        const double disturbed = ++calls % 23 == 0 ? 400 : 0;
        return model(footprint, stride, lap) + disturbed;
      },
      7);
  EXPECT_EQ(found.bytes, 216 * kibi);
}

TEST(FindSize, SaysThatItsPlaceIsUnsureWhereItIs) {
  const Model model{.bytes = 216 * kibi};
  const Model other{.bytes = 216 * kibi + 512};
  const auto found = find_size(
      in_l1(),
      [&](std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
        return lap % 2 == 0 ? model(footprint, stride, lap) : other(footprint, stride, lap);
      },
      7);
  EXPECT_EQ(found.bytes, 216 * kibi);
  EXPECT_EQ(std::ranges::count(found.estimates, 216.0 * kibi + 512), 3);
  EXPECT_GT(found.most, 216 * kibi + 128);
}

TEST(FindLine, TellsLinesApart) {
  const auto strides = strides_of(32, 480, 16, 256);
  for (const std::uint64_t line : {96U, 128U, 192U}) {
    const Model model{.bytes = 216 * kibi, .line = line};
    const auto found = find_line(footprint_beyond(216 * kibi, 16), strides, model, 7);
    EXPECT_EQ(found.bytes, line);
    EXPECT_EQ(found.least, line);
    EXPECT_EQ(found.most, line + 16);
    EXPECT_GE(found.change.confidence, 0.99);
  }
}

TEST(FindLine, HasAnIntervalWhereRepetitionsDisagree) {
  const auto strides = strides_of(32, 480, 16, 256);
  const LoadCycles cycles = [](std::uint64_t bytes, std::uint64_t stride, unsigned repetition) {
    return Model{.bytes = 216 * kibi, .line = repetition < 3 ? 96U : 128U}(bytes, stride,
                                                                           repetition);
  };
  const auto found = find_line(footprint_beyond(216 * kibi, 16), strides, cycles, 9);
  EXPECT_EQ(found.bytes, 128U);
  EXPECT_LT(found.least, 128U);
  EXPECT_GE(found.least, 96U);
  EXPECT_EQ(found.most, 144U);
}

TEST(FindLine, TellsTheLineOfACpu) {
  const auto strides = strides_of(16, 248, 8, 128);
  const Model model{.bytes = 48 * kibi, .line = 64, .hit = 4, .miss = 12};
  EXPECT_EQ(find_line(footprint_beyond(48 * kibi, 16), strides, model, 7).bytes, 64U);
}

TEST(FindLine, SaysThatEveryStrideMisses) {
  const auto strides = strides_of(32, 480, 16, 256);
  const Model model{.bytes = 216 * kibi};
  EXPECT_THROW((void)find_line(4 * mebi, strides, model, 7), Skipped);
}

TEST(FindLine, IsNoRowWhereNoCacheHasSuchALine) {
  for (const double bytes : {32.0, 64.0, 128.0})
    EXPECT_NO_THROW(require_power_of_two(Property::l2_line, {.estimates = {16, bytes, 512}}));
  for (const double bytes : {96.0, 160.0, 0.0})
    EXPECT_THROW(require_power_of_two(Property::l2_sector, {.estimates = {bytes}}), Skipped);
}

TEST(Strides, LeaveOutThoseThatUseEveryOtherSet) {
  const auto strides = strides_of(32, 480, 16, 256);
  EXPECT_EQ(strides.front(), 32U);
  EXPECT_EQ(strides.back(), 480U);
  EXPECT_FALSE(std::ranges::binary_search(strides, 256U));
  EXPECT_TRUE(std::ranges::binary_search(strides, 128U));
}

Neighbours trials() {
  return {.distances = 64, .step = 4, .trials = 16, .spacing = 4096};
}

TEST(Neighbours, GoOnceToEveryPlaceAndOftenToEveryDistance) {
  for (const std::uint32_t turn : {0U, 1U, 6U}) {
    Neighbours plan = trials();
    plan.turn = turn;
    std::set<std::uint32_t> places;
    std::map<std::uint32_t, int> distances;
    for (std::uint32_t t = 0; t < plan.places(); ++t) {
      places.insert(plan.place_of(t));
      ++distances[plan.distance_of(t)];
      EXPECT_LT(plan.second_of(t) + 3, plan.bytes());
      EXPECT_LT(plan.distance_of(t), plan.spacing);
    }
    EXPECT_EQ(places.size(), plan.places());
    EXPECT_EQ(distances.size(), 64U);
    for (const auto& [distance, times] : distances)
      EXPECT_EQ(times, 16) << distance;
  }
}

/// What a cache that fetches `sector` bytes makes of the trials.
std::vector<std::vector<double>> cycles_of(Neighbours plan, std::uint32_t sector, int launches) {
  std::vector<std::vector<double>> all;
  for (int i = 0; i < launches; ++i, ++plan.turn) {
    std::vector<double> cycles;
    for (std::uint32_t t = 0; t < plan.places(); ++t) {
      const double outlier = t % 19 == 0 ? 1000 : 0;
      cycles.push_back((plan.distance_of(t) < sector ? 40.0 : 290.0) + t % 3 + outlier);
    }
    all.push_back(cycles);
  }
  return all;
}

TEST(FindSector, IsExactToTheWord) {
  for (const std::uint32_t sector : {16U, 32U, 64U, 128U}) {
    const auto found = find_sector(scan_of(trials(), cycles_of(trials(), sector, 7)));
    EXPECT_EQ(found.bytes, sector);
    EXPECT_EQ(found.least, sector);
    EXPECT_EQ(found.most, sector);
    EXPECT_EQ(found.estimates, std::vector<double>(7, sector));
    EXPECT_NEAR(found.hit, 41, 2);
    EXPECT_NEAR(found.miss, 291, 2);
  }
}

TEST(FindSector, WorksWithOneTrialOfADistance) {
  Neighbours plan{.distances = 64, .step = 4, .trials = 1, .spacing = 512};
  auto cycles = cycles_of(plan, 64, 7);
  EXPECT_EQ(find_sector(scan_of(plan, cycles)).bytes, 64U);
}

TEST(FindSector, SaysThatNothingMissesOrEverythingDoes) {
  EXPECT_THROW((void)find_sector(scan_of(trials(), cycles_of(trials(), 4096, 7))), Skipped);
  EXPECT_THROW((void)find_sector(scan_of(trials(), cycles_of(trials(), 0, 7))), Skipped);
}

TEST(SumOfTrials, DependsOnEveryTrialAndItsOrder) {
  Neighbours plan = trials();
  const auto sum = sum_of_trials(plan);
  plan.turn = 1;
  EXPECT_NE(sum_of_trials(plan), sum);
  for (std::uint32_t i = 0; i < 100000; ++i)
    EXPECT_NE(neighbour_words.word(i), 0xFFFFFFFFU);
}

TEST(Carveouts, AreThoseOfTheGuide) {
  EXPECT_THAT(carveouts_of("9.0")->shared_kib,
              testing::ElementsAre(0, 8, 16, 32, 64, 100, 132, 164, 196, 228));
  EXPECT_EQ(carveouts_of("9.0")->unified_kib, 256U);
  EXPECT_THAT(carveouts_of("7.5")->shared_kib, testing::ElementsAre(32, 64));
  EXPECT_FALSE(carveouts_of("3.5"));
}

TEST(Carveouts, AreAskedForInPercentThatRoundUpToThem) {
  for (const char* capability : {"7.0", "8.0", "8.6", "9.0", "12.0"}) {
    const auto steps = carveouts_of(capability)->shared_kib;
    const unsigned most = steps.back();
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const double asked = carveout_percent(steps[i], most) * static_cast<double>(most) / 100;
      EXPECT_LE(asked, steps[i]) << capability;
      EXPECT_GT(asked, steps[i - 1]) << capability;
    }
    EXPECT_EQ(carveout_percent(0, most), 0);
    EXPECT_EQ(carveout_percent(most, most), 100);
  }
}

TEST(Carveouts, AreForcedBySharedMemoryThatASmallerOneHasNoRoomFor) {
  EXPECT_EQ(bytes_that_force(0, 232448), 0U);
  EXPECT_EQ(bytes_that_force(100, 232448), 99 * kibi);
  EXPECT_EQ(bytes_that_force(228, 232448), 227 * kibi);
  EXPECT_EQ(bytes_that_force(228, 100000), 100000U);
}

TEST(Reported, NamesWhoSaysSo) {
  const GpuFacts gpu = example_gpu();
  EXPECT_EQ(reported(Property::l1_size, 100, gpu)->bytes, 156 * kibi);
  EXPECT_EQ(reported(Property::l2_size, 0, gpu)->bytes, 60 * mebi);
  EXPECT_STREQ(reported(Property::l2_sector, 0, gpu)->by, "cudaLimitMaxL2FetchGranularity");
  EXPECT_EQ(reported(Property::l2_sector, 0, gpu)->bytes, 64U);
  EXPECT_FALSE(reported(Property::l2_sector, 0, GpuFacts{}));
  EXPECT_FALSE(reported(Property::constant_l1_size, 0, gpu));
  // A chip whose smallest carve-out is not nothing.
  EXPECT_EQ(reported(Property::l1_size, 0, GpuFacts{.compute_capability = "7.5"})->bytes,
            64 * kibi);
  EXPECT_FALSE(reported(Property::l1_size, 0, GpuFacts{}));
  const CpuFacts cpu{.l1_bytes = 49152, .line_bytes = 64};
  EXPECT_EQ(reported(Property::l1_size, cpu)->bytes, 48 * kibi);
  EXPECT_EQ(reported(Property::l1_line, cpu)->bytes, 64U);
  EXPECT_FALSE(reported(Property::l2_size, cpu));
  EXPECT_EQ(reported(Property::l2_size, CpuFacts{.l2_bytes = 2 * mebi, .line_bytes = 64})->bytes,
            2 * mebi);
}

// --- the rows

RowSeen modelled(double value, const char* unit) {
  return {value, unit, Provenance::modelled};
}

TEST(CacheGeometryRows, AreTheSizeItsIntervalAndWhatIsSaidOfIt) {
  FakeSession fake;
  const LoadCycles cycles = Model{.bytes = 216 * kibi};
  const std::uint64_t fits = search(fake.session, Property::l1_size, in_l1(), {},
                                    Reported{.bytes = 256 * kibi, .by = "guide"}, cycles);
  EXPECT_EQ(fits, 108 * kibi);
  const auto& rows = fake.record.measurements;
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].quantity, "size");
  EXPECT_EQ(rows[0].method, "change_point");
  EXPECT_EQ(rows[0].unit, "B");
  EXPECT_EQ(rows[0].provenance, Provenance::timed);
  EXPECT_EQ(rows[0].samples, std::vector<double>{216.0 * kibi});
  RowsSeen seen = rows_of(fake.record);
  EXPECT_EQ(seen["interval_low by bootstrap"], modelled(216.0 * kibi, "B"));
  EXPECT_EQ(seen["interval_high by bootstrap"], modelled(216.0 * kibi + 128, "B"));
  EXPECT_EQ(seen["reported by guide"], (RowSeen{256.0 * kibi, "B", Provenance::reported}));
  const RowSeen confidence = seen["confidence by rank_scan_permutation"];
  EXPECT_GE(confidence.value, 0.99);
  EXPECT_EQ(confidence, modelled(confidence.value, "1"));
  EXPECT_NEAR(std::get<double>(fake.record.facts["cycles_below"]), 32, 0.01);
}

TEST(CacheGeometryRows, OfALineHaveTheSizeAsAFact) {
  FakeSession fake;
  fake.plan.min_samples = 7;
  const LoadCycles cycles = Model{.bytes = 216 * kibi};
  const LineSearch lines{.least = 32, .most = 480, .step = 16, .parts = 16};
  (void)search(fake.session, Property::l1_line, in_l1(), lines, std::nullopt, cycles);
  EXPECT_EQ(fake.record.measurements.size(), 4U);
  EXPECT_EQ(fake.record.measurements[0].quantity, "line");
  EXPECT_EQ(fake.record.measurements[0].samples, std::vector<double>(7, 128));
  EXPECT_EQ(fake.record.facts["size_bytes"], Fact{static_cast<std::int64_t>(216 * kibi)});
}

TEST(CacheGeometryRows, OfASectorComeFromAllLaunchesTogether) {
  const Experiment experiment = describe_trials(Property::l2_sector, trials(), 7, std::nullopt);
  EXPECT_EQ(experiment.samples, 7);
  Collection<Sample> samples;
  for (auto& cycles : cycles_of(trials(), 32, 7)) {
    cycles.push_back(1.5e9);
    samples.kept.push_back({.slopes = {}, .numbers = cycles});
  }
  FakeSession fake;
  report(fake.session, cuda_timers, experiment, samples);
  std::map<std::string, std::vector<double>> rows;
  for (const Measurement& m : fake.record.measurements)
    rows[m.quantity + " by " + m.method] = m.samples;
  EXPECT_EQ(rows["sector by change_point"], std::vector<double>(7, 32));
  EXPECT_EQ(rows["core_clock by clock64_over_globaltimer"], std::vector<double>(7, 1.5e9));
  EXPECT_EQ(rows.size(), 5U);
  EXPECT_EQ(fake.verdict("clock"), Verdict::passed);
}

/// Writes the stamp of a launch that took 10 cycles a load, and 100 more.
void walk(FakeMachine& machine, const Chains& chains, const Call& call) {
  Stamp& stamp = machine.device.front();
  stamp.cycles[0] = 0;
  stamp.cycles[1] = 100 + 10 * call.length.rounds;
  stamp.nanoseconds[0] = 0;
  stamp.nanoseconds[1] = stamp.cycles[1];
  stamp.core = 0;
  stamp.result = chains.chase.word_at(chains.chase.first + chains.chase.warm + call.length.rounds);
  machine.seconds = static_cast<double>(stamp.cycles[1]) * 1e-9;
}

TEST(CacheGeometryChains, AreWrittenWalkedAndVerifiedOneByOne) {
  FakeMachine machine;
  Chains chains{machine, /*base=*/4096};
  std::vector<std::uint64_t> written;
  chains.write = [&](const PermutedChain& chain) {
    EXPECT_EQ(chain.base, 4096U);
    written.push_back(chain.cycle.slots() * chain.stride);
  };
  chains.experiment.slopes[0].launch = [&](const Call& call) { walk(machine, chains, call); };
  chains.lay(1024, 128, /*repetition=*/0, /*warm=*/16);
  EXPECT_DOUBLE_EQ(chains.cycles_of(32), 10 + 100.0 / 32);
  chains.lay(2048, 128, /*repetition=*/1, /*warm=*/16);
  EXPECT_DOUBLE_EQ(chains.cycles_of(64), 10 + 100.0 / 64);
  EXPECT_EQ(written, (std::vector<std::uint64_t>{1024, 2048}));
  EXPECT_EQ(chains.experiment.tally.checked, 2U);
  EXPECT_EQ(chains.experiment.tally.different, 0U);
  chains.experiment.slopes[0].launch = [](const Call&) {};
  (void)chains.cycles_of(32);
  EXPECT_EQ(chains.experiment.tally.different, 1U);
}

TEST(CacheGeometryChains, TimeAChainThatFitsByTwoTimers) {
  FakeMachine machine;
  Chains chains{machine, /*base=*/0};
  chains.write = [](const PermutedChain&) {};
  chains.experiment.slopes[0].launch = [&](const Call& call) { walk(machine, chains, call); };
  chains.lay(4096, 128, 0, 32);
  FakeSession fake;
  measure(fake.session, machine, chains.experiment);
  EXPECT_EQ(rows_of(fake.record),
            (RowsSeen{{"load_cycles by clock64_slope", {10, "cycle"}},
                      {"load_cycles by event_slope", {10, "cycle"}},
                      {"load_time by event_slope", {1e-8, "s"}},
                      {"core_clock by clock64_over_globaltimer", {1e9, "Hz"}}}));
  EXPECT_EQ(fake.verdict("timer"), Verdict::passed);
  EXPECT_EQ(fake.verdict("result"), Verdict::passed);
}

}  // namespace
}  // namespace strata::cache_geometry
