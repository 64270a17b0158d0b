#include "micro/latency/latency_vs_footprint.hpp"

#include "harness/case/octaves.hpp"
#include "micro/latency/pointer_chase.hpp"
#include "micro/pattern/cycle_walks.hpp"
#include "micro/pattern/permuted_chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace strata {
namespace {

using namespace latency_vs_footprint;
using pointer_chase::loads_for;
using pointer_chase::observed;
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

TEST(LatencyVsFootprint, NamesEverySpace) {
  for (const auto name : space_names)
    EXPECT_EQ(space_names[static_cast<std::size_t>(space_from(name).value())], name);
  EXPECT_EQ(space_from("global"), std::nullopt);
}

TEST(LatencyVsFootprint, WalksEverySpaceInAHundredFootprintsWhereItHasRoom) {
  const Benchmark b = declare();
  std::map<std::string, int> cuda;
  int host = 0;
  for (const auto& space : b.axis("space")->defaults) {
    for (const auto& footprint : b.axis("footprint")->defaults) {
      const Params params{
          {"space", space}, {"cores", "one"}, {"stride", "128"}, {"footprint", footprint}};
      if (!b.excludes(params, Backend::cuda)) ++cuda[space];
      if (!b.excludes(params, Backend::host)) ++host;
    }
  }
  for (const char* space : {"global_ca", "global_cg", "global_nc", "texture", "mapped"})
    EXPECT_GE(cuda[space], 100) << space;
  EXPECT_GE(cuda["shared"], 50);
  EXPECT_GE(cuda["constant"], 40);
  EXPECT_FALSE(cuda.contains("memory"));
  EXPECT_GE(host, 100);
}

TEST(LatencyVsFootprint, LeavesOutWhatHasNoMeaning) {
  const Benchmark b = declare();
  const auto excluded = [&](const char* space, const char* cores, const char* stride,
                            const char* footprint) {
    return b
        .excludes(
            {{"space", space}, {"cores", cores}, {"stride", stride}, {"footprint", footprint}},
            Backend::cuda)
        .has_value();
  };
  EXPECT_FALSE(excluded("global_ca", "several", "128", "68719476736"));
  EXPECT_TRUE(excluded("global_ca", "one", "4096", "1024"));
  EXPECT_TRUE(excluded("global_ca", "one", "1024", "1024"));
  EXPECT_TRUE(excluded("global_ca", "one", "256", "1152"));
  EXPECT_TRUE(excluded("constant", "one", "128", "65664"));
  EXPECT_FALSE(excluded("constant", "one", "128", "65536"));
  EXPECT_TRUE(excluded("shared", "several", "128", "1024"));
  EXPECT_TRUE(excluded("memory", "one", "128", "1024"));
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

TEST(LevelOfChase, PassesOneLevelAndLeavesAMixtureOpen) {
  const auto verdict = [](Space space, double l1, double misses) {
    return level_of_chase(space, {.requests = 1000,
                                  .sectors = 1000,
                                  .l1_hit_sectors = l1,
                                  .l2_sectors = 1000 - l1,
                                  .l2_miss_sectors = misses,
                                  .dram_bytes = std::nullopt})
        .verdict;
  };
  EXPECT_EQ(verdict(Space::global_ca, 1000, 0), Verdict::passed);
  EXPECT_EQ(verdict(Space::global_ca, 500, 0), Verdict::unverified);
  EXPECT_EQ(verdict(Space::global_ca, 0, 0), Verdict::passed);
  EXPECT_EQ(verdict(Space::global_ca, 0, 995), Verdict::passed);
  EXPECT_EQ(verdict(Space::global_cg, 0, 500), Verdict::unverified);
  EXPECT_EQ(verdict(Space::global_cg, 1, 0), Verdict::failed);
  EXPECT_EQ(level_of_chase(Space::global_ca, {}).verdict, Verdict::failed);
}

// What an H200 counts: loads of one sector from memory, each with two missed sectors.
TEST(LevelOfChase, KnowsThatL2FetchesMoreThanIsAskedFor) {
  const LoadCounts net{.requests = 2048,
                       .sectors = 2048,
                       .l1_hit_sectors = 0,
                       .l2_sectors = 2048,
                       .l2_miss_sectors = 4096,
                       .dram_bytes = std::nullopt};
  const Gate apart = level_of_chase(Space::global_cg, net, 2);
  EXPECT_EQ(apart.verdict, Verdict::passed);
  EXPECT_THAT(apart.detail, ::testing::HasSubstr("memory 100.00 %"));
  const Gate unknown = level_of_chase(Space::global_cg, net);
  EXPECT_EQ(unknown.verdict, Verdict::unverified);
  EXPECT_THAT(unknown.detail, ::testing::HasSubstr("missed 2.00 sectors"));
}

TEST(Preparation, IsSaidInWords) {
  EXPECT_EQ(to_string(Space::global_cg, preparation_for(Space::global_cg, mebi, 8192, l2, 1)),
            "a lap");
  EXPECT_EQ(to_string(Space::texture, preparation_for(Space::texture, 8 * l2, l2 / 16, l2, 1)),
            "evicted");
  EXPECT_EQ(to_string(Space::shared, preparation_for(Space::shared, 1024, 8, l2, 1)), "as it is");
}

TEST(ChaseLoads, TakeTheTimeThatIsWantedInWholeTurns) {
  const auto loads = loads_for(5e5, 250, 64, ~std::uint64_t{0});
  EXPECT_NEAR(loads.slope() * 250, 5e5, 16 * 250);
  EXPECT_EQ(loads.brief % unroll, 0U);
  EXPECT_EQ(loads.full % unroll, 0U);
  EXPECT_NEAR(loads.brief, loads.slope() / 4, unroll);
}

TEST(ChaseLoads, GrowWithTheWarmLoadsAndFitIntoWhatIsWritten) {
  EXPECT_GE(loads_for(1e4, 200, 8192, ~std::uint64_t{0}).slope(), 8192 / 3 - 16);
  for (const std::uint64_t most : {256U, 1000U, 8192U}) {
    const auto loads = loads_for(1e7, 30, 64, most);
    EXPECT_LE(loads.warm + loads.full, most);
  }
  EXPECT_THROW((void)loads_for(1e6, 30, 64, 100), std::length_error);
}

TEST(CycleWalks, GoOnWhereTheyEndedAroundAWholeCycle) {
  CycleWalks walks{1000, 5000, 1};
  EXPECT_EQ(walks.links(), 1000U);
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

TEST(Observed, TakesEachCoreByItself) {
  const std::vector<pointer_chase::Walk> brief{{.core = 0, .cycles = 100, .seconds = 1},
                                               {.core = 1, .cycles = 300, .seconds = 3},
                                               {.core = 2, .cycles = 200, .seconds = 2}};
  const std::vector<pointer_chase::Walk> full{{.core = 2, .cycles = 1200, .seconds = 12},
                                              {.core = 1, .cycles = 1500, .seconds = 15},
                                              {.core = 0, .cycles = 900, .seconds = 9}};
  const auto seen = observed(brief, 1, full, 13, {.warm = 0, .brief = 16, .full = 116});
  EXPECT_DOUBLE_EQ(seen.nearest, 8);
  EXPECT_DOUBLE_EQ(seen.inside, 10);
  EXPECT_DOUBLE_EQ(seen.farthest, 12);
  EXPECT_DOUBLE_EQ(seen.slowest, 12);
  EXPECT_DOUBLE_EQ(seen.core_hertz, 100);
  EXPECT_DOUBLE_EQ(seen.seconds, 0.12);
  EXPECT_DOUBLE_EQ(seen.outside, 12);
  EXPECT_THROW((void)observed({}, 1, full, 13, {.warm = 0, .brief = 16, .full = 116}),
               std::runtime_error);
}

TEST(Observed, TakesASingleWalkerWhereverItWas) {
  const std::vector<pointer_chase::Walk> brief{{.core = 0, .cycles = 100, .seconds = 1}};
  const std::vector<pointer_chase::Walk> full{{.core = 2, .cycles = 1100, .seconds = 11}};
  const auto seen = observed(brief, 1, full, 11, {.warm = 0, .brief = 16, .full = 116});
  EXPECT_DOUBLE_EQ(seen.inside, 10);
  EXPECT_DOUBLE_EQ(seen.outside, 10);
}

}  // namespace
}  // namespace strata
