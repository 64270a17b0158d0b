// A change that a device has tried is kept only if it is faster beyond chance.
#include "harness/access/command/optimize_trials.hpp"

#include "harness/access/ptx.hpp"
#include "harness/model/split_mix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata::access {
namespace {

using testing::HasSubstr;

constexpr unsigned turns = 41;

/// Times that scatter by some percent; those of the optimized kernel are `ratio` of the original's.
Trial noisy(double ratio, SplitMix& random, double seconds = 1e-4) {
  Trial trial;
  const auto noise = [&] { return 1 + 0.05 * static_cast<double>(random.next() >> 11U) * 0x1p-53; };
  for (unsigned i = 0; i < turns; ++i) {
    trial.original.push_back(seconds * noise());
    trial.optimized.push_back(seconds * ratio * noise());
  }
  return trial;
}

TEST(Trials, KeepTheChangeThatSavesMost) {
  SplitMix random{1};
  const Outcome outcome = outcome_of(std::vector<std::vector<Trial>>{
      {noisy(0.7, random)}, {noisy(0.4, random)}, {noisy(0.5, random)}});
  EXPECT_EQ(outcome.kept, 1U);
  EXPECT_NEAR(outcome.changes[1].optimized / outcome.changes[1].original, 0.4, 0.02);
  EXPECT_LT(outcome.changes[1].ratios.at(0).high, 0.45);
}

TEST(Trials, KeepNothingThatIsSlowerOrUncertain) {
  SplitMix random{2};
  const Outcome slower = outcome_of(std::vector<std::vector<Trial>>{{noisy(1.1, random)}});
  EXPECT_EQ(slower.kept, std::nullopt);
  EXPECT_EQ(slower.changes[0].why_not, "it is slower");
  const Outcome same = outcome_of(std::vector<std::vector<Trial>>{{noisy(1, random)}});
  EXPECT_EQ(same.kept, std::nullopt);
  EXPECT_EQ(same.changes[0].why_not, "it is not faster");
  // A launch that gains much does not make good for one that loses.
  const Outcome mixed =
      outcome_of(std::vector<std::vector<Trial>>{{noisy(0.2, random), noisy(1.1, random)}});
  EXPECT_EQ(mixed.kept, std::nullopt);
  EXPECT_EQ(mixed.changes[0].why_not, "a launch is slower");
}

TEST(Trials, KeepNothingThatFailedOrLeavesOtherBytes) {
  SplitMix random{3};
  Trial different = noisy(0.2, random);
  different.different = 7;
  const Outcome outcome = outcome_of(std::vector<std::vector<Trial>>{
      {different}, {Trial{.failure = "an illegal address"}}, {noisy(0.9, random)}});
  EXPECT_EQ(outcome.kept, 2U);
  EXPECT_THAT(outcome.changes[0].why_not, HasSubstr("7 bytes differ"));
  EXPECT_EQ(outcome.changes[1].why_not, "an illegal address");
}

TEST(Trials, SeldomKeepWhatIsNotFaster) {
  SplitMix random{4};
  constexpr unsigned kernels = 2000;
  unsigned kept = 0;
  for (unsigned i = 0; i < kernels; ++i) {
    std::vector<std::vector<Trial>> changes;
    for (unsigned c = 0; c < 4; ++c)
      changes.push_back({noisy(1, random)});
    kept += outcome_of(changes).kept ? 1 : 0;
  }
  // Six standard deviations of a count of that rate beyond its mean.
  EXPECT_LE(kept, false_alarm_rate * kernels + 6 * 4.45);
}

TEST(Change, IsReadAgainFromItsWords) {
  const ptx::Module module = ptx::read(R"(.version 9.0
.target sm_90
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1) { ret; }
)",
                                       "k.ptx");
  for (const char* const words :
       {"", "swap=x,y", "swap=x,z swap=y,z swap_blocks=x,y", "exchange=y threads=4 group=8",
        "passes=2 group=1", "swizzle=256", "threads=2 given=k_param_1:3"}) {
    const Change change = parse_change("--change", words, module, module.kernels[0]);
    const std::string again = words_of(change, module);
    EXPECT_EQ(parse_change("--change", again, module, module.kernels[0]), change) << again;
  }
}

}  // namespace
}  // namespace strata::access
