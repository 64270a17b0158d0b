#include "micro/latency/latency_vs_footprint.cu"

#include "example_gpu.hpp"
#include "harness/case/octaves.hpp"
#include "harness/case/sweep.hpp"
#include "micro/latency/pointer_chase_host.hpp"
#include "micro/pattern/permuted_chain.hpp"
#include "rows_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace strata::latency_vs_footprint {
namespace {

using pointer_chase::lengths_for;
using pointer_chase::unroll;

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = 1024 * kibi;
constexpr std::uint64_t l2 = 60 * mebi;

TEST(Footprints, AreEightAnOctaveAndWholeSlotsFromEndToEnd) {
  const auto all = octaves(least_footprint, most_footprint, 8, 128);
  EXPECT_GE(all.size(), 200U);
  EXPECT_EQ(all.front(), kibi);
  EXPECT_EQ(all.back(), most_footprint);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i] % 128, 0U);
    EXPECT_TRUE(i == 0 || all[i] > all[i - 1]) << all[i];
  }
  EXPECT_EQ(std::ranges::count_if(all, [](auto f) { return f > mebi && f <= 2 * mebi; }), 8);
  // Every power of two is there.
  for (std::uint64_t power = kibi; power <= most_footprint; power *= 2)
    EXPECT_TRUE(std::ranges::binary_search(all, power)) << power;
}

TEST(LatencyVsFootprint, OfASweepReachesTheMemoryOfEveryCpu) {
  for (const std::uint64_t last : {1, 8, 32, 96, 128, 260, 300, 480}) {
    const Sweep quick = load_sweep("quick", benchmarks(), last * mebi);
    std::set<std::uint64_t> walked;
    for (const Case& one : expand(quick, Backend::host, benchmarks()))
      if (one.benchmark == "latency_vs_footprint")
        walked.insert(number_of<std::uint64_t>(one.params, "footprint"));
    const auto first = walked.lower_bound(2 * last * mebi);
    ASSERT_NE(first, walked.end()) << last;
    EXPECT_LE(*first, 4 * last * mebi) << last;
    EXPECT_EQ(*walked.rbegin(), last <= 64 ? 256 * mebi : last <= 128 ? 512 * mebi : 1024 * mebi);
  }
}

TEST(Preparation, WalksTheChainOnceWhereAnyOfItMayBeInL1) {
  EXPECT_EQ(preparation_for(Space::global_ca, 256 * kibi, 2048, l2, 1).warm_loads, 2048U);
  EXPECT_EQ(preparation_for(Space::global_ca, mebi, 8192, l2, 1).warm_loads, 8192U);
  EXPECT_EQ(preparation_for(Space::global_ca, 2 * mebi, 16384, l2, 1).warm_loads, 64U);
  EXPECT_EQ(preparation_for(Space::global_cg, 256 * kibi, 2048, l2, 1).warm_loads, 64U);
  EXPECT_EQ(preparation_for(Space::texture, 1152, 9, l2, 1).warm_loads, 64U);
  EXPECT_EQ(preparation_for(Space::constant, 64 * kibi, 2047, l2, 1).warm_loads, 2048U);
}

TEST(Preparation, WritesTheWholeChainUnlessItIsFarLargerThanL2) {
  const auto within = preparation_for(Space::global_cg, 4 * l2, 4 * l2 / 128, l2, 132);
  EXPECT_EQ(within.links, 4 * l2 / 128);
  EXPECT_FALSE(within.cold);
  const auto beyond =
      preparation_for(Space::global_cg, most_footprint, most_footprint / 128, l2, 1);
  EXPECT_TRUE(beyond.cold);
  EXPECT_EQ(beyond.links, 1U << 17U);
  const auto wide = preparation_for(Space::global_cg, 8 * l2, 8 * l2 / 4096, l2, 132);
  EXPECT_TRUE(wide.cold);
  EXPECT_EQ(wide.links, 8 * l2 / 4096);
}

Stamp walked(std::uint32_t core, std::uint64_t cycles, std::uint64_t seconds) {
  constexpr std::uint64_t nano = 1'000'000'000;
  return {.cycles = {1000, 1000 + cycles},
          .nanoseconds = {nano, nano + seconds * nano},
          .result = 0,
          .core = core,
          .tag = 0};
}

TEST(ChaseLengths, TakeTheTimeThatIsWantedInWholeTurns) {
  const Lengths lengths = lengths_for(5e5, 250, 64, ~std::uint64_t{0});
  const double difference = lengths.full.work - lengths.brief.work;
  EXPECT_NEAR(difference * 250, 5e5, 16 * 250);
  EXPECT_EQ(lengths.brief.rounds % unroll, 0U);
  EXPECT_EQ(lengths.full.rounds % unroll, 0U);
  EXPECT_NEAR(lengths.brief.rounds, difference / 4, unroll);
  EXPECT_EQ(lengths.full.work, lengths.full.rounds);
  EXPECT_EQ(lengths.brief.work, lengths.brief.rounds);
}

TEST(ChaseLengths, GrowWithTheWarmLoadsAndFitIntoWhatIsWritten) {
  const Lengths wide = lengths_for(1e4, 200, 8192, ~std::uint64_t{0});
  EXPECT_GE(wide.full.rounds - wide.brief.rounds, 8192U / 3 - 16);
  for (const std::uint64_t most : {256U, 1000U, 8192U})
    EXPECT_LE(64 + lengths_for(1e7, 30, 64, most).full.rounds, most);
  EXPECT_THROW((void)lengths_for(1e6, 30, 64, 100), std::length_error);
}

TEST(ChaseLengths, OfACpuSurviveATrialThatWasPreempted) {
  HostMachine machine;
  pointer_chase::Chase chase{.word_at = {}, .walks = {1U << 16U, 1U << 16U, 1}};
  const Experiment experiment = pointer_chase::describe_on(machine, chase, {.pilot = 4096});
  const Lengths lengths = experiment.slopes[0].size([](const Length& length) {
    return Launched{.length = length, .stamps = {walked(0, 100'000'000, 1)}};
  });
  EXPECT_EQ(lengths.full.rounds - lengths.brief.rounds, 256U);
}

TEST(CycleWalks, GoOnWhereTheyEndedAroundAWholeCycle) {
  CycleWalks walks{1000, 5000, 1};
  EXPECT_EQ(walks.begin(700), 0U);
  EXPECT_EQ(walks.begin(700), 700U);
  EXPECT_EQ(walks.begin(10), 400U);
  EXPECT_EQ(walks.end(400, 0, 2600), 0U);
}

TEST(CycleWalks, StayWithinTheirPieceOfWhatIsWritten) {
  CycleWalks walks{1000000, 1000, 4};
  EXPECT_EQ(walks.gap(), 250U);
  EXPECT_EQ(walks.begin(200), 0U);
  EXPECT_EQ(walks.begin(60), 0U);  // 200 + 60 would run into the next walker's piece
  EXPECT_EQ(walks.begin(190), 60U);
  EXPECT_EQ(walks.end(60, 3, 190), 1000U);  // the last link's target
  EXPECT_THROW((void)walks.begin(251), std::length_error);
}

TEST(PermutedChain, MovesWordsByWholeLinesOverAllOfThem) {
  constexpr std::uint64_t page = 2 * mebi;
  constexpr std::uint64_t lines = page / PermutedChain::line_bytes;
  const PermutedChain chain{
      .cycle = PermutedCycle{4096, 1}, .base = 0, .stride = page, .lines = lines};
  std::set<std::uint64_t> offsets;
  for (std::uint64_t slot = 0; slot < 4096; ++slot) {
    EXPECT_EQ(chain.address_of(slot) / page, slot);
    EXPECT_EQ(chain.address_of(slot) % PermutedChain::line_bytes, 0U);
    offsets.insert(chain.address_of(slot) % page);
  }
  EXPECT_GT(offsets.size(), 3000U);
  const PermutedChain plain{.cycle = PermutedCycle{8, 1}, .base = 4096, .stride = 128};
  EXPECT_EQ(plain.address_of(3), 4096U + 3 * 128);
}

TEST(EachCore, IsTakenByItself) {
  const Launched brief{.length = {.work = 16},
                       .seconds = 1,
                       .stamps = {walked(0, 100, 1), walked(1, 300, 3), walked(2, 200, 2)}};
  const Launched full{.length = {.work = 116},
                      .seconds = 13,
                      .stamps = {walked(2, 1200, 12), walked(1, 1500, 15), walked(0, 900, 9)}};
  const Inside seen = each_core().read(brief, full);
  EXPECT_DOUBLE_EQ(seen.low, 8);
  EXPECT_DOUBLE_EQ(seen.cycles, 10);
  EXPECT_DOUBLE_EQ(seen.high, 12);
  EXPECT_DOUBLE_EQ(seen.slowest, 12);
  EXPECT_DOUBLE_EQ(seen.hertz, 100);
  EXPECT_THROW((void)each_core().read({.length = {.work = 16}}, full), std::runtime_error);
}

TEST(EachCore, IsTakenWhereverItWasWhenItIsAlone) {
  const Launched brief{.length = {.work = 16}, .seconds = 1, .stamps = {walked(0, 100, 1)}};
  const Launched full{.length = {.work = 116}, .seconds = 11, .stamps = {walked(2, 1100, 11)}};
  EXPECT_DOUBLE_EQ(each_core().read(brief, full).cycles, 10);
}

// --- the description

GpuFacts gpu() {
  return example_gpu(4);
}

/// A case of a GPU, from its parameters to what the engine is given.
struct Described {
  Described(Space space, bool several, std::uint64_t footprint)
      : setup{setup_for({{"space", std::string{spaces.name_of(space)}},
                         {"cores", several ? "several" : "one"},
                         {"stride", "128"},
                         {"footprint", std::to_string(footprint)}},
                        gpu())},
        chase{chase_of(setup)},
        experiment{describe(chase, setup, gpu())} {}
  [[nodiscard]] RowsSeen rows() const {
    const Seen seen{
        .inside = {.cycles = 300, .slowest = 390, .low = 250, .high = 380, .hertz = 2e9},
        .outside = 391,
        .seconds = 1.5e-7,
        .full_seconds = 1};
    return rows_of(experiment, cuda_timers, {.slopes = {seen}, .numbers = {}});
  }
  [[nodiscard]] Verdict timer(double slowest, double outside) const {
    const Seen seen{.inside = {.cycles = 1, .slowest = slowest, .hertz = 2e9}, .outside = outside};
    return verdict_of("timer", experiment, {{.slopes = {seen}, .numbers = {}}});
  }
  Setup setup;
  pointer_chase::Chase chase;
  Experiment experiment;
};

TEST(LatencyGates, VerifyWhereEachWalkEnds) {
  Described one{Space::global_cg, true, mebi};
  const Slope& slope = one.experiment.slopes[0];
  const Call call{.length = {.rounds = 160}};
  slope.prepare(call);
  slope.prepare(call);  // goes on where the first one ended
  std::vector<Stamp> stamps(4);
  for (std::size_t walker = 0; walker < 4; ++walker) {
    const std::uint64_t steps = 2 * (one.chase.warm + 160U) + walker * (mebi / 128 / 4);
    stamps[walker].result = one.setup.chain.address_at(steps);
  }
  stamps[3].result += 1;
  stamps[0].core = 17;
  Tally tally;
  slope.verify(call, stamps, tally);
  EXPECT_EQ(tally.checked, 4U);
  EXPECT_EQ(tally.different, 1U);
  EXPECT_EQ(one.chase.core, 17U);
}

TEST(LatencyLengths, AreDecidedByTheSecondOfTwoTrials) {
  const Described one{Space::global_cg, false, mebi};
  std::vector<std::uint32_t> rounds;
  const Lengths lengths = one.experiment.slopes[0].size([&](const Length& length) {
    rounds.push_back(length.rounds);
    const std::uint64_t of_load = rounds.size() == 1 ? 5000 : 250;
    return Launched{
        .length = length, .seconds = 1, .stamps = {walked(0, of_load * length.rounds, 1)}};
  });
  EXPECT_EQ(rounds, (std::vector<std::uint32_t>{256, 256}));
  EXPECT_NEAR(lengths.full.work - lengths.brief.work, 5e5 / 250, unroll);
}

}  // namespace
}  // namespace strata::latency_vs_footprint
