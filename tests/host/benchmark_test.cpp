#include "harness/case/benchmark.hpp"

#include "message_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using strata::Axis;
using strata::Backend;
using strata::Benchmark;
using strata::Params;
using strata::Session;
using strata::detail::merge;

void on_cuda(Session& /*session*/) {}
void on_host(Session& /*session*/) {}

Axis choice() {
  return {.name = "layout",
          .meaning = "its layout in memory",
          .choices = {"soa", "aos", "aosoa32"},
          .defaults = {"aos"}};
}

Axis number() {
  return {.name = "warps",
          .meaning = "how many",
          .choices = {},
          .minimum = -2,
          .maximum = 64,
          .defaults = {"1", "8"}};
}

TEST(Axis, HasItsChoicesAndNothingElse) {
  EXPECT_EQ(choice().canonical("aos"), "aos");
  for (const auto* const text : {"AOS", "aos ", "", "ao", "aosoa", "1"}) {
    EXPECT_EQ(choice().canonical(text), std::nullopt) << text;
  }
}

TEST(Axis, HasWholeNumbersInsideItsBounds) {
  for (const auto* const text : {"-2", "0", "1", "64"})
    EXPECT_EQ(number().canonical(text), text);
  for (const auto* const text : {"-3", "65", "99999999999999999999", "", "8.5", "eight"}) {
    EXPECT_EQ(number().canonical(text), std::nullopt) << text;
  }
}

// Two spellings of one value would be two cases of one measurement.
TEST(Axis, HasOneSpellingOfANumber) {
  for (const auto* const text : {"08", "+8", "8.0", "0x8", "8e0", " 8", "-0"}) {
    EXPECT_EQ(number().canonical(text), std::nullopt) << text;
  }
}

TEST(Axis, DescribesWhatItTakes) {
  EXPECT_EQ(choice().describe(), "soa, aos, aosoa32");
  EXPECT_EQ(number().describe(), "an integer from -2 to 64");
}

TEST(Benchmark, FindsItsAxesByName) {
  const Benchmark benchmark{.suite = "micro",
                            .name = "b",
                            .question = "?",
                            .axes = {choice(), number()},
                            .quantities = {},
                            .excludes = {}};
  ASSERT_NE(benchmark.axis("warps"), nullptr);
  EXPECT_EQ(benchmark.axis("warps")->maximum, 64);
  EXPECT_EQ(benchmark.axis("warp"), nullptr);
}

std::optional<std::string> a_rule(const Params& /*params*/, Backend /*backend*/) {
  return {};
}

Benchmark declare() {
  return {.suite = "micro",
          .name = "enrolled_by_test",
          .question = "Is it enrolled?",
          .axes = {choice(), number()},
          .quantities = {{"cycles", "of one read"}},
          .excludes = a_rule};
}

// The one line that a new file needs: what it promises is that the list has it when main begins.
STRATA_BENCHMARK(declare, cuda, on_cuda);
STRATA_BENCHMARK(declare, host, on_host);

TEST(Registry, HoldsABenchmarkBeforeMainWithBothItsBackends) {
  const auto* const found = strata::find_benchmark("enrolled_by_test");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->benchmark.question, "Is it enrolled?");
  EXPECT_EQ(found->body(Backend::cuda), &on_cuda);
  EXPECT_EQ(found->body(Backend::host), &on_host);
  const auto& all = strata::benchmarks();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const auto& one) { return one.benchmark.name == "enrolled_by_test"; }),
            1);
}

TEST(Registry, KnowsNothingElse) {
  EXPECT_EQ(strata::find_benchmark("enrolled_by_nobody"), nullptr);
  EXPECT_EQ(strata::find_benchmark(""), nullptr);
}

TEST(Registry, IsClosedOnceItWasRead) {
  (void)strata::benchmarks();
  EXPECT_THROW(strata::detail::enrol(declare, Backend::host, on_host), std::logic_error);
}

Benchmark declare_zebra() {
  auto benchmark = declare();
  benchmark.name = "zebra";
  return benchmark;
}
Benchmark declare_ant() {
  auto benchmark = declare();
  benchmark.name = "ant";
  return benchmark;
}

TEST(Merge, SortsByNameWhateverTheOrderOfFiles) {
  const auto all = merge({{declare_zebra, Backend::host, on_host},
                          {declare_ant, Backend::host, on_host},
                          {declare_zebra, Backend::cuda, on_cuda}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].benchmark.name, "ant");
  EXPECT_EQ(all[1].benchmark.name, "zebra");
  EXPECT_EQ(all[0].body(Backend::cuda), nullptr);
  EXPECT_EQ(all[1].body(Backend::cuda), &on_cuda);
  EXPECT_EQ(all[1].body(Backend::host), &on_host);
}

std::string why_not(const std::vector<strata::detail::Enrolment>& entries) {
  return strata::message_of<std::logic_error>([&] { return merge(entries); });
}

TEST(Merge, RefusesABackendTwice) {
  EXPECT_EQ(why_not({{declare, Backend::host, on_host}, {declare, Backend::host, on_host}}),
            "benchmark 'enrolled_by_test': registered twice for host");
}

using Change = void (*)(Benchmark&);

/// The change that changed() makes: enrolment takes plain functions only, so it cannot be handed
/// over.
Change& change() {
  static Change now = nullptr;
  return now;
}

Benchmark changed() {
  auto benchmark = declare();
  change()(benchmark);
  return benchmark;
}

std::string why_not_beside_declare(Change one) {
  change() = one;
  return why_not({{declare, Backend::cuda, on_cuda}, {changed, Backend::host, on_host}});
}

std::string why_not_alone(Change one) {
  change() = one;
  return why_not({{changed, Backend::host, on_host}});
}

TEST(Merge, AcceptsTwoEqualDeclarations) {
  EXPECT_EQ(why_not_beside_declare([](Benchmark&) {}), "accepted");
}

TEST(Merge, NamesTheFieldInWhichBackendsDiffer) {
  const std::string start = "benchmark 'enrolled_by_test': its declarations differ in ";
  EXPECT_EQ(why_not_beside_declare([](Benchmark& b) { b.suite = "nbody"; }), start + "'suite'");
  EXPECT_EQ(why_not_beside_declare([](Benchmark& b) { b.question = "?"; }), start + "'question'");
  EXPECT_EQ(why_not_beside_declare([](Benchmark& b) { b.axes[1].maximum = 32; }), start + "'axes'");
  EXPECT_EQ(why_not_beside_declare([](Benchmark& b) { std::swap(b.axes[0], b.axes[1]); }),
            start + "'axes'");
  EXPECT_EQ(why_not_beside_declare([](Benchmark& b) { b.quantities.clear(); }),
            start + "'quantities'");
  EXPECT_EQ(why_not_beside_declare([](Benchmark& b) { b.seconds_per_case = 9; }),
            start + "'seconds_per_case'");
  EXPECT_EQ(why_not_beside_declare([](Benchmark& b) { b.excludes = nullptr; }),
            start + "'excludes'");
}

TEST(Merge, RefusesNamesThatAnIdOrASettingCannotHold) {
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.name = "a b"; }), "accepted");
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.name = ""; }), "accepted");
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.suite = "a/b"; }), "accepted");
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.name = "plan"; }), "accepted");
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.name = "a.b"; }), "accepted");
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.axes[0].name = "a=b"; }), "accepted");
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.axes[0].choices[0] = "a,b"; }), "accepted");
}

TEST(Merge, RefusesAnAxisThatCannotBeSwept) {
  EXPECT_EQ(why_not_alone([](Benchmark& b) { b.axes[1].name = "layout"; }),
            "benchmark 'enrolled_by_test': its list of axes has 'layout' twice");
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.axes[0].choices.emplace_back("soa"); }), "accepted");
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.axes[1].minimum = 65; }), "accepted");
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.axes[0].defaults.clear(); }), "accepted");
  EXPECT_NE(why_not_alone([](Benchmark& b) { b.axes[1].defaults = {"8", "8"}; }), "accepted");
  EXPECT_EQ(why_not_alone([](Benchmark& b) { b.axes[1].defaults = {"08"}; }),
            "benchmark 'enrolled_by_test': axis 'warps' does not include its default '08'");
}

}  // namespace
