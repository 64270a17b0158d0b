// What the benchmarks of synchronization expect of their launches.
#include "example_gpu.hpp"
#include "harness/base/error.hpp"
#include "micro/sync/barriers.cu"
#include "micro/sync/fences.cu"
#include "micro/sync/kernel_boundary.cu"
#include "micro/sync/messages.cu"

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(Barriers, HandWordsToTheNextThreadThatMeets) {
  using namespace barriers;
  // Two halves of four warps: thread 63, the last of its half, gets the word of thread 0.
  const Shape named{.kind = Kind::named, .warps = 4};
  ASSERT_EQ(named.meeting(132), 64U);
  std::uint32_t sum = 0;
  for (std::uint32_t thread = 32; thread < 64; ++thread) {
    for (std::uint32_t meeting = 0; meeting < 3; ++meeting)
      sum += token((thread + 1) % 64, meeting);
  }
  EXPECT_EQ(sum_of_warp(64, /*warp=*/1, /*first=*/0, /*meetings=*/3), sum);
  // A word of the meeting before is another sum.
  EXPECT_NE(sum_of_warp(64, 1, 1, 1), sum_of_warp(64, 1, 0, 1));
}

TEST(Barriers, OfAClusterAndOfTheGridSpanBlocks) {
  using namespace barriers;
  EXPECT_EQ((Shape{.kind = Kind::cluster, .warps = 2, .cluster = 8}.meeting(132)), 512U);
  EXPECT_EQ((Shape{.kind = Kind::grid, .warps = 2}.meeting(132)), 132 * 64U);
  EXPECT_EQ((Shape{.kind = Kind::syncwarp}.meeting(132)), 32U);
}

TEST(Barriers, AreProvedByEveryMeeting) {
  using namespace barriers;
  const Shape block{.kind = Kind::block, .warps = 2};
  std::vector<Stamp> stamps(4);
  for (std::uint32_t warp = 0; warp < 4; ++warp)
    stamps[warp].result = sum_of_warp(64, warp, 0, 2 * unroll + 1);
  const auto different = [&](bool each) {
    Tally tally;
    verified(block, /*blocks=*/2, each)({.length = {.rounds = 2}}, stamps, tally);
    return tally.different;
  };
  EXPECT_EQ(different(/*each=*/true), 0U);
  EXPECT_EQ(different(/*each=*/false), 4U);  // there only the last meeting hands words over
}

TEST(Fences, RefuseWordsOfEarlierOperations) {
  using namespace fences;
  const Shape shape{.operation = Operation::store_release, .stores = 1};
  std::vector<std::uint32_t> words(std::size_t{shape.lines()} * line_words);
  words[0] = stored(3 * unroll - 1, 0);
  for (std::uint32_t u = 0; u < unroll; ++u)
    words[(1 + u) * line_words] = stored(2 * unroll + u, 1 + u);
  const Experiment experiment = describe(shape, words);
  const auto different = [&] {
    Tally tally;
    const std::vector<Stamp> stamps(1, Stamp{.result = 3 * unroll});
    experiment.slopes.front().verify({.length = {.rounds = 3}}, stamps, tally);
    return tally.different;
  };
  EXPECT_EQ(different(), 0U);
  words[line_words] = stored(unroll, 1);
  EXPECT_EQ(different(), 1U);
}

TEST(Fences, ThatReturnNothingSayWhyTheyHaveNoDependence) {
  using namespace fences;
  for (const Operation operation : {Operation::fence_sc, Operation::load_acquire}) {
    const Shape shape{.operation = operation};
    const Experiment experiment = describe(shape, {});
    const bool is_chain = std::ranges::any_of(experiment.checks, [](const Check& check) {
      return std::holds_alternative<Dependence>(check);
    });
    EXPECT_EQ(is_chain, shape.loads());
    EXPECT_NE(is_chain, experiment.facts(experiment).contains("no_dependence"));
  }
}

TEST(Messages, CountEveryBlockOfARound) {
  using namespace messages;
  Tally tally;
  const std::vector<Stamp> stamps(1, Stamp{.result = 100 * 4 * 16});
  verified(/*blocks=*/4, /*places=*/16)({.length = {.rounds = 100}}, stamps, tally);
  EXPECT_EQ(tally.different, 0U);
  verified(/*blocks=*/2, /*places=*/16)({.length = {.rounds = 100}}, stamps, tally);
  EXPECT_EQ(tally.different, 1U);
}

TEST(KernelBoundary, WordsComeFromTheNextBlockOfTheKernelBefore) {
  using namespace kernel_boundary;
  const auto words = expected_words(/*kernels=*/3, /*blocks=*/4);
  ASSERT_EQ(words.size(), 12U);
  EXPECT_EQ(words[0], changed(first_word(1)));
  EXPECT_EQ(words[2 * 4 + 1], changed(changed(changed(first_word(0)))));
}

TEST(Synchronization, IsSkippedWhereTheGpuHasNoClusters) {
  GpuFacts gpu = example_gpu();
  gpu.major = 8;
  EXPECT_THROW(
      (void)barriers::describe({{"kind", "cluster"}, {"warps", "1"}, {"cluster", "2"}}, gpu),
      Skipped);
  EXPECT_THROW(
      (void)messages::describe({{"route", "l2"}, {"order", "relaxed"}, {"blocks", "2"}}, gpu),
      Skipped);
  EXPECT_THROW((void)fences::describe(
                   {{"operation", "proxy_async"}, {"scope", "cta"}, {"stores", "0"}}, gpu),
               Skipped);
}

}  // namespace
}  // namespace strata
