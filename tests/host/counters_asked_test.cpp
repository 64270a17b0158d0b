#include "harness/case/sweep.hpp"
#include "harness/counters/counter_set.hpp"
#include "message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Flags = std::vector<std::string>;

std::string diagnostic(const Flags& flags) {
  return message_of([&] { return parse_counters(flags); });
}

TEST(CountersAsked, AreThoseOfMemoryWhenNothingIsSaid) {
  EXPECT_THAT(parse_counters({}), ElementsAre("auto"));
  EXPECT_THAT(selection_of({"auto"}, {}).wanted, ElementsAre("memory"));
}

TEST(CountersAsked, AreNoneWhenNoneIsSaid) {
  EXPECT_THAT(selection_of(parse_counters({"none"}), Flags{"shared"}).wanted, IsEmpty());
}

TEST(CountersAsked, AreAlsoThoseThatTheBenchmarksWant) {
  const auto benchmark = [](const char* name, std::vector<std::string> sets) {
    return Enrolled{.benchmark = {.suite = "micro",
                                  .name = name,
                                  .question = "?",
                                  .axes = {},
                                  .counter_sets = std::move(sets),
                                  .quantities = {},
                                  .excludes = {}}};
  };
  const std::vector<Enrolled> known{benchmark("a", {"shared"}), benchmark("b", {}),
                                    benchmark("c", {"shared", "flops"}), benchmark("d", {"l2"})};
  const auto wanted = wanted_counter_sets(Flags{"a", "b", "c", "gone"}, known);
  EXPECT_THAT(wanted, ElementsAre("flops", "shared"));
  EXPECT_THAT(selection_of({"auto"}, wanted).wanted, ElementsAre("memory", "flops", "shared"));
  EXPECT_TRUE(selection_of({"auto"}, wanted).by_benchmark);
  EXPECT_THAT(wanted_counter_sets(Flags{"b"}, known), IsEmpty());
}

TEST(CountersAsked, MayBeJoinedByCommasOrSaidOneByOne) {
  const Flags all{"memory", "my/own.yaml", "dram__bytes.sum"};
  EXPECT_EQ(parse_counters({"memory,my/own.yaml,dram__bytes.sum"}), all);
  EXPECT_EQ(parse_counters({"memory", "my/own.yaml,dram__bytes.sum"}), all);
  EXPECT_EQ(selection_of(all, Flags{"shared"}).wanted, all);
  EXPECT_FALSE(selection_of(all, Flags{"shared"}).by_benchmark);
}

TEST(CountersAsked, RefuseWhatHasNoMeaning) {
  EXPECT_THAT(diagnostic({""}), HasSubstr("--counters '': an empty name; expected auto, none, or"));
  EXPECT_THAT(diagnostic({"memory,"}), HasSubstr("an empty name"));
  EXPECT_THAT(diagnostic({"memory", ",flops"}), HasSubstr("an empty name"));
  EXPECT_THAT(diagnostic({"auto,memory"}), HasSubstr("auto cannot be combined"));
  EXPECT_THAT(diagnostic({"memory", "none"}), HasSubstr("none cannot be combined"));
  EXPECT_EQ(diagnostic({"memory", "memory"}), "--counters 'memory': given twice");
}

}  // namespace
}  // namespace strata
