// Every rung of every ladder, as it is declared.
#include "nbody/common/ladder.hpp"

#include "harness/case/benchmark.hpp"
#include "nbody/fstat/ladder.hpp"
#include "nbody/neighbours/ladder.hpp"
#include "tests/host/rungs_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {
namespace {

using testing::IsEmpty;
using testing::Not;

std::vector<Rung> all_rungs() {
  std::vector<Rung> all;
  for (const std::string& suite : ladders())
    std::ranges::copy(ladder(suite), std::back_inserter(all));
  return all;
}

class EveryRung : public testing::TestWithParam<Rung> {};

TEST_P(EveryRung, HasAStoryAndChangesARungBeforeIt) {
  const Rung& rung = GetParam();
  for (const std::string& text : {rung.question, rung.change, rung.source, rung.expectation})
    EXPECT_THAT(text, Not(IsEmpty()));
  EXPECT_THAT(rung.question, testing::EndsWith("?"));
  const std::vector<Rung>& ladder = strata::ladder(rung.suite);
  const auto place = [&](const std::string& name) {
    return std::ranges::find(ladder, name, &Rung::name);
  };
  if (rung.before.empty()) {
    EXPECT_EQ(std::ranges::find(ladder, rung.backend, &Rung::backend)->name, rung.name);
  } else {
    ASSERT_LT(place(rung.before), place(rung.name));
    EXPECT_EQ(place(rung.before)->backend, rung.backend);
  }
}

TEST_P(EveryRung, IsABenchmarkOfItsSuite) {
  const Rung& rung = GetParam();
  const Enrolled* const enrolled = find_benchmark(rung.name);
  ASSERT_NE(enrolled, nullptr);
  EXPECT_EQ(enrolled->benchmark.suite, rung.suite);
  EXPECT_EQ(enrolled->benchmark.question, rung.question);
  EXPECT_TRUE(rung.backend == Backend::cuda || enrolled->host != nullptr) << "no code";
  const Backend other = rung.backend == Backend::host ? Backend::cuda : Backend::host;
  Params params;
  for (const Axis& axis : enrolled->benchmark.axes)
    params[axis.name] = axis.defaults.front();
  EXPECT_TRUE(enrolled->benchmark.excludes(params, other).has_value());
}

TEST_P(EveryRung, NamesWhatPredictsItsCounts) {
  const Rung& rung = GetParam();
  const bool gpu = rung.backend == Backend::cuda;
  if (rung.suite == "neighbours") {
    EXPECT_NE(neighbours::tests_of(rung), nullptr);
    EXPECT_EQ(neighbours::traffic_of(rung) != nullptr, gpu);
    EXPECT_NO_THROW((void)neighbours::build_of(rung));
  }
  EXPECT_EQ(fstat::costs_of(rung) != nullptr, gpu && rung.suite == "fstat");
  for (const auto& [value, slots] : rung.issue_slots)
    EXPECT_GT(slots, 0);
}

INSTANTIATE_TEST_SUITE_P(Ladders, EveryRung, testing::ValuesIn(all_rungs()),
                         [](const auto& rung) { return rung.param.name; });

TEST(Ladders, HaveRungsWithNamesOfTheirOwn) {
  EXPECT_THAT(ladders(), testing::ElementsAre("fstat", "nbody", "neighbours"));
  std::set<std::string> names;
  for (const Rung& rung : all_rungs()) {
    EXPECT_TRUE(names.insert(rung.name).second) << rung.name;
    EXPECT_TRUE(rung.suite == "nbody" || rung.name.starts_with(rung.suite + '_')) << rung.name;
    EXPECT_EQ(rung_named(rung.name).suite, rung.suite);
  }
  for (const auto& [name, code] : detail::rung_codes())
    EXPECT_TRUE(names.contains(name)) << name << " is not declared";
  EXPECT_THROW((void)rung_named("no_rung"), std::out_of_range);
  EXPECT_THROW((void)ladder("no_ladder"), std::out_of_range);
}

TEST(Ladders, ReadNumbersAndListsOfTheirYaml) {
  const Rung& rung = rung_named("fstat_fixed_point");
  EXPECT_EQ(rung.issue_slots_at(2), 151);
  EXPECT_EQ(rung.issue_slots_at(3), 0);
  EXPECT_TRUE(rung.approximate);
  EXPECT_EQ(rung_named("fstat_serial").most, 2e7);
  EXPECT_EQ(rung_named("naive").threads_of_read, 32U);
  EXPECT_THAT(rung_named("naive").layouts,
              testing::ElementsAre("aos", "soa", "aoas", "soaoas", "aosoa32"));
  EXPECT_EQ(rung_named("tensor_cores").sum, Sum::halves);
  EXPECT_EQ(rung_named("tensor_cores").special_functions, 7.0 / 16);
  EXPECT_FALSE(rung_named("neighbours_early_stop").exact);
  const std::vector<KernelPhase>& kernels = rung_named("neighbours_half_stencil").kernels;
  EXPECT_EQ(kernels.front().function, "step_of") << "as of every rung";
  EXPECT_EQ(kernels.back().function, "find") << "its own";
  EXPECT_EQ(kernels.back().phase, StepPhase::search);
  const Benchmark& constant = find_benchmark("neighbours_constant")->benchmark;
  EXPECT_EQ(constant.axis("cells")->maximum, 25);
  EXPECT_EQ(constant.axis("shown")->defaults, std::vector<std::string>{"no"});
}

}  // namespace
}  // namespace strata
